"""`kengine selftest`: judge the corpus of hacks and honest kernels, and print the engine's own score."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kengine.selftest import Corpus, Score


@click.command("selftest")
@click.option("--target", "wanted", metavar="BACKEND:ARCH", multiple=True, help="Only this target; may be repeated.")
@click.option("--only", metavar="NAME", multiple=True, help="Only this entry or folder of entries; may be repeated.")
@click.option("--corpus", "root", type=click.Path(path_type=Path), metavar="DIR", help="Another corpus.")
@click.option("--no-bare", is_flag=True, help="Leave out the second verdict, without lint.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Candidates side by side; default: processors.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line for each target, and nothing else.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT", help="Write a report.")
def command(
    wanted: tuple[str, ...], only: tuple[str, ...], root: Path | None, no_bare: bool, jobs: int | None, as_json: bool,
    html: Path | None,
) -> int:  # fmt: skip
    """Judge the corpus of hacks and of honest kernels, and print how many of the first passed and of the second did
    not; default: on every target that can launch here.

    The exit code is 1 when the engine is wrong about any entry. Entries that cannot be judged here are counted as not
    run, with the reason. The second column is the engine while lint rejects nothing: what the checks at run time see.

    \b
    kengine selftest --target triton:interpret
    kengine selftest --only triton/hacks --only shape_keyed_cache --json
    """
    from kengine import selftest
    from kengine.errors import TargetUnavailable, UsageError

    if html is not None and not html.resolve().parent.is_dir():
        raise UsageError(f"--html {html}: there is no folder {html.parent}")
    corpus = selftest.load(root)
    chosen = corpus.select(only) if only else corpus
    targets = tuple(dict.fromkeys(wanted)) or selftest.targets(chosen)
    if not targets:
        wanted_of = ", ".join(chosen.backends)
        raise TargetUnavailable(f"no target of {wanted_of} can launch here; `kengine backends` says why")
    scores = []
    try:
        for target in targets:
            score = _run(chosen, target, jobs, not no_bare)
            scores.append(score)
            if as_json:
                click.echo(json.dumps(score.to_json(), separators=(",", ":"), allow_nan=False))
            else:
                _print(score)
    finally:
        if html is not None and scores:
            _write(html, scores)
    return int(any(score.misses for score in scores))


def _run(corpus: Corpus, target: str, jobs: int | None, bare: bool) -> Score:
    from kengine import selftest
    from kengine.cli import console
    from kengine.target import Target

    wanted = Target.parse(target)
    total = sum(entry.fits(wanted) for entry in corpus.entries)
    with console.progress(total, target, False) as bar:
        return selftest.run(corpus, target, workers=jobs, bare=bare, told=bar.advance)


def _print(score: Score) -> None:
    from kengine.cli import console
    from kengine.report.table import cell
    from kengine.selftest import rows
    from kengine.selftest.page import TITLES

    out = console.stdout()
    out.print(cell(rows.heading(score), "bold", lines=False))
    for title, make in TITLES:
        headers, body = make(score)
        if body:
            out.print()
            out.print(cell(title, "bold"))
            out.print(_table(headers, body))
    for reason, names in score.not_run.items():
        out.print()
        out.print(cell(f"not run, {reason}: {', '.join(names)}", lines=False))
    out.print()


def _table(headers: list[str], body: list[list[str]]) -> Any:
    from rich import box
    from rich.table import Table

    from kengine.report.table import cell

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in headers:
        table.add_column(header, overflow="fold", no_wrap=header in ("entry", "miss"))
    for row in body:
        table.add_row(*(cell(text, lines=False) for text in row))
    return table


def _write(html: Path, scores: list[Score]) -> None:
    from kengine.errors import UsageError
    from kengine.selftest.page import write_page

    try:
        write_page(html, scores)
    except OSError as error:
        raise UsageError(f"--html {html}: cannot be written: {error.strerror or error}") from error
