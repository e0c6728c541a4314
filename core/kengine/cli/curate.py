"""`kengine curate`: raw samples in, a corpus out; whole, or one stage of it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kengine.curate.funnel import Funnel
    from kengine.curate.pipeline import Watch

SCHEMA = "kengine.curation/1"
"""Schema of the line that --json writes."""


@click.command("curate")
@click.argument("arguments", nargs=-1, required=True, metavar="CURATE.TOML | STAGE SAMPLES...")
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="FILE", help="Settings of a stage that stands alone."
)
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of a stage that stands alone; may be repeated.",
)
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="PATH",
              help="The folder of the run, instead of `out`; of a stage that stands alone, its file.")  # fmt: skip
@click.option("--fresh", is_flag=True, help="Forget an earlier run in the same folder instead of going on with it.")
@click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Candidates judged side by side; default: processors."
)
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON object on stdout, and nothing else.")
@click.option("--quiet", "-q", is_flag=True, help="No progress.")
def command(
    arguments: tuple[str, ...], config: Path | None, given: tuple[str, ...], out: Path | None, fresh: bool,
    jobs: int | None, as_json: bool, quiet: bool,
) -> int:  # fmt: skip
    """Turn raw kernel samples into a corpus, as CURATE.TOML says. Interrupted or killed, the same command goes on where
    it was.

    With the name of a stage first (load, parse, reject, dedup, export, ...) that stage alone runs on files or folders
    of samples, and writes samples as JSON lines.

    \b
    kengine curate curate.toml
    kengine curate parse replay.jsonl -o samples.jsonl
    kengine curate reject samples.jsonl --set 'targets=["triton:interpret"]' -o judged.jsonl
    """
    from kengine.curate.settings import STAGES
    from kengine.errors import UsageError

    if arguments[0] in STAGES:
        from kengine.curate.alone import run_alone

        with _progress(quiet) as watch:
            funnel = run_alone(arguments[0], list(arguments[1:]), config, given, out, jobs, watch)
        _show(funnel, as_json and out is not None, sys.stderr)
        return 0
    if len(arguments) > 1:
        from difflib import get_close_matches

        near = get_close_matches(arguments[0], STAGES, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"no stage {arguments[0]!r}; {hint}stages: {', '.join(STAGES)}; or give one curate.toml")
    for option, value in (("--config", config), ("--set", given)):
        if value:
            raise UsageError(f"{option} is for a stage that stands alone; {arguments[0]} says all there is to say")
    from kengine.curate import pipeline, settings

    read = settings.read(Path(arguments[0]))
    if out is not None:
        read = replace(read, out=out)
    with _progress(quiet) as watch:
        result = pipeline.run(read, watch=watch, fresh=fresh, jobs=jobs)
    if as_json:
        body = {"schema": SCHEMA, "folder": str(result.folder), "rows": result.rows, "steps": result.funnel.to_json(),
                "seconds": {k: round(v, 3) for k, v in result.seconds.items()}}  # fmt: skip
        click.echo(json.dumps(body, separators=(",", ":"), allow_nan=False))
    else:
        _show(result.funnel, False, sys.stdout)
        from kengine.curate.funnel import count_rows
        from kengine.report.plain import clean

        click.echo(f"\n{count_rows(result.rows)} in {result.folder}")
        if result.examples:
            click.echo("nothing is left; of each reason the first loss:")
            for text in result.examples:
                click.echo(f"  {clean(text, False)}")
    return 0


def _show(funnel: Funnel, as_json: bool, stream: Any) -> None:
    if as_json:
        click.echo(json.dumps({"schema": SCHEMA, "steps": funnel.to_json()}, separators=(",", ":")))
        return
    from rich import box
    from rich.table import Table

    from kengine.cli import console
    from kengine.report.table import cell

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in ("stage", "in", "added", "lost", "out"):
        table.add_column(name, justify="left" if name == "stage" else "right")
    table.add_column("reasons", overflow="fold")
    for step in funnel.to_json():
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in step["lost"].items())
        numbers = (step["entered"], step["added"], sum(step["lost"].values()), step["left"])
        table.add_row(cell(step["stage"]), *(cell(f"{n:,}" if n else "-") for n in numbers), cell(reasons))
    (console.stdout() if stream is sys.stdout else console.stderr()).print(table)


@contextmanager
def _progress(quiet: bool) -> Iterator[Watch]:
    """One bar for each pass over the samples, on a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from kengine.cli import console

    count = TextColumn("{task.fields[count]}", markup=False)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), count, TimeElapsedColumn())
    with Progress(*columns, console=console.stderr(), transient=True, redirect_stdout=False) as bar:
        tasks: dict[str, Any] = {}

        def watch(names: str, done: int, total: int) -> None:
            if names not in tasks:
                tasks[names] = bar.add_task(names, total=total or None, count="")
            text = f"{done:,} of {total:,}" if total else f"{done:,}"
            bar.update(tasks[names], completed=done, total=total or None, count=text)

        yield watch
