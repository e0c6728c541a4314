"""`kengine screen`: tasks that cannot tell right from wrong, before a candidate is judged by them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

if TYPE_CHECKING:
    from kengine.model import Task, TaskReport

SCHEMA = "kengine.screen/1"
"""Schema of the line that --json writes for one task."""
STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


@click.command("screen")
@click.argument("tasks", nargs=-1, required=True, metavar="TASKS...")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), help="Where the references run; default: as they say.")
@click.option("--cases", type=click.IntRange(1), metavar="N", help="At most N cases of each task.")
@click.option("--salt", metavar="HEX", help="Draw the inputs from this secret instead of a new one.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else.")
@click.option("--quiet", "-q", is_flag=True, help="No progress, and only tasks with a problem.")
def command(
    tasks: tuple[str, ...], device: str | None, cases: int | None, salt: str | None, as_json: bool, quiet: bool
) -> int:
    """Report tasks that cannot be judged, each with a suggested fix: answers that zeros, a constant or an input would
    pass for, parameters and operators that do not matter, chance, overflow, a tolerance that is too loose.

    TASKS are files of any form, patterns, or folders, which are searched to the bottom for files that hold a task.
    The engine refuses what is an error here; under a warning some wrong kernel passes.

    \b
    Exit codes: 0 nothing worse than a note, 1 a task has an error or a warning, 2 wrong usage.
    """
    from kengine import config
    from kengine.cli import console, options
    from kengine.engine.screen import screen

    plan = options.merge_plan(config.read().plan, cases=cases, salt=salt)
    reports: list[TaskReport] = []
    loaded = list(_load(tasks, reports))
    total = len(loaded) + len(reports)
    read = [task for _, task in loaded]
    if as_json:
        for report in reports:
            click.echo(_line(report))
    with console.progress(total, "screening", quiet or as_json) as bar:
        try:
            for (path, _), found in zip(loaded, screen(read, cast("Any", device or ""), plan)):
                report = replace(found, path=str(path))
                reports.append(report)
                if as_json:
                    click.echo(_line(report))
                bar.advance(report.task)
        finally:
            if not as_json and reports:
                _show(reports, quiet)
    return 0 if all(report.ok for report in reports) else 1


def _load(arguments: Sequence[str], reports: list[TaskReport]) -> Iterator[tuple[Path, Task]]:
    """The tasks in order of the arguments; a file that is none, or a broken one, becomes a report of its own."""
    from kengine.errors import TaskError
    from kengine.model import TaskFinding, TaskReport
    from kengine.tasks.paths import show_path

    for path in _expand(arguments):
        try:
            yield path, load_task(path)
        except TaskError as error:
            found = TaskFinding("broken", "error", str(error), "mend the file; docs/tasks.md shows the forms")
            reports.append(TaskReport(show_path(path.stem), show_path(path), "cpu", (found,)))


def load_task(path: Path) -> Task:
    """The task of a file, of which its candidate, if it has one, has been cut out. Raises TaskError."""
    from kengine import tasks
    from kengine.errors import TaskError, UsageError
    from kengine.tasks.source import normalise, read_text

    try:
        return tasks.load([path]).task
    except TaskError:
        raise
    except UsageError:
        try:
            return tasks.parse_task(normalise(read_text(path)), str(path))
        except TaskError:
            raise
        except UsageError as error:
            raise TaskError(str(error)) from error


def holds_task(path: Path) -> bool:
    """Whether a file of a folder is meant as a task: it defines the names of a form, or its block describes arrays."""
    from kengine.errors import KengineError
    from kengine.tasks.block import find_block
    from kengine.tasks.cfamily import SUFFIXES
    from kengine.tasks.form import find_form
    from kengine.tasks.source import SourceError, normalise, parse, read_text

    try:
        text = normalise(read_text(path))
        language = SUFFIXES.get(path.suffix.lower())
        if language is not None:
            block = find_block(text, str(path), language)
            return block is not None and "inputs" in block.values and "cases" in block.values
        from kengine.tasks.form import top_level

        return find_form(top_level(parse(text, str(path)))) is not None
    except (KengineError, SourceError):
        return False


def _expand(arguments: Sequence[str]) -> list[Path]:
    """The files in order, each once; of a folder those below it that hold a task. Raises UsageError."""
    from kengine.cli import files
    from kengine.errors import UsageError

    found: dict[Path, None] = {}
    for argument in arguments:
        folder = Path(argument)
        if not folder.is_dir():
            found.update(dict.fromkeys(files.expand([argument], None)))
            continue
        below = sorted(p for p in folder.rglob("*") if p.suffix in files.SUFFIXES and p.is_file())
        inside = [p for p in below if not any(part[0] in "._" for part in p.relative_to(folder).parts)]
        tasks = [p for p in inside if holds_task(p)]
        if not tasks:
            raise UsageError(
                f"{argument}: no task in this folder ({len(inside)} source files, none of which holds one)"
            )
        found.update(dict.fromkeys(tasks))
    return list(found)


def _line(report: TaskReport) -> str:
    from kengine import codec

    body: dict[str, Any] = {"schema": SCHEMA, **codec.to_json(report), "ok": report.ok, "refused": report.refused}
    return json.dumps(body, separators=(",", ":"), allow_nan=False)


def _show(reports: Sequence[TaskReport], quiet: bool) -> None:
    from rich import box
    from rich.table import Table

    from kengine.cli import console
    from kengine.report.plain import count
    from kengine.report.table import cell

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("task", overflow="fold", min_width=12, max_width=40)
    table.add_column("check", no_wrap=True, min_width=13)
    table.add_column("what, and what to do", overflow="fold", min_width=30, ratio=1)
    shown = [r for r in reports if not (quiet and r.ok)]
    for report in shown:
        name = report.path or report.task
        if not report.findings:
            table.add_row(cell(name), cell("good", "bold green"), cell(count(len(report.cases), "case")))
        for n, f in enumerate(report.findings):
            place = f" (line {f.line})" if f.line else ""
            text = cell(f"{f.message}{place}")
            text.append_text(cell(f"\n{f.fix}" if f.fix and f.severity != "note" else "", "italic"))
            table.add_row(cell("" if n else name), cell(f.check, STYLES[f.severity]), text)
    out = console.stdout()
    if shown:
        out.print(table)
    refused = sum(r.refused for r in reports)
    warned = sum(not r.ok for r in reports) - refused
    out.print(cell(f"{count(len(reports), 'task')}: {refused} refused, {warned} with warnings"))
