"""What verify, time and compile have in common: candidates in, verdicts out, each told as soon as it is there."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kengine.cli import console
from kengine.cli.failure import about, debugging, exit_code, hint_for, say, worst
from kengine.errors import KengineError, TaskError, UsageError
from kengine.model import Capability, Status, Verdict
from kengine.report.plain import clean

if TYPE_CHECKING:
    from kengine.cli.options import Choice
    from kengine.config import Plan
    from kengine.engine import Engine
    from kengine.tasks.item import Item

ERROR_SCHEMA = "kengine.error/1"
"""Schema of the line that --json writes for a candidate that got no verdict."""


@dataclass
class Results:
    """Everything that came out so far: verdicts, and (file, kind, message) for files that got none."""

    verdicts: list[Verdict] = field(default_factory=list)
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)

    @property
    def exit_code(self) -> int:
        """The worst of all."""
        return worst(self.codes)


@dataclass(frozen=True)
class Output:
    """How to tell it: JSON lines or text, an HTML report or none, with or without the lines around it."""

    as_json: bool
    html: Path | None
    quiet: bool


def judge(
    files: Sequence[str], task: Path | None, backend: str | None, target: tuple[str, ...], output: Output,
    run: Path | None = None, full: bool = False, **given: Any,
) -> int:  # fmt: skip
    """Judge every candidate on every chosen target, print the results, and return the exit code.

    What was finished is printed even when the rest is interrupted. `given`: options of the command line, None where
    not given; they go over the project's configuration. full: tell every verdict in full, not only a single one.
    """
    from kengine import config
    from kengine.cli import codes, options
    from kengine.cli.files import check_file
    from kengine.cli.fitting import fit

    settings = config.read()
    compile_for, jobs = given.pop("compile_for", ()), given.pop("jobs", None)
    choice = options.choose(settings, backend, target, compile_for=compile_for, jobs=jobs)
    plan = options.merge_plan(settings.plan, **given)
    codes.heed(plan, choice.backends, given.get("select", ()), given.get("ignore", ()))
    if task is not None:
        check_file(task, "a task")
    fitting = fit(files, task, choice.backends)
    results = Results()
    if output.html is not None:
        _check_writable(output.html)
    for note in fitting.notes:
        say("note", note)
    try:
        for path, error in fitting.errors:
            _fail(results, str(path), error, output)
        items = list(_load(fitting.paths, task, results, output))
        for (name, chosen), where in zip(choice.pairs, choice.backends):
            if mine := [item for path, item in items if fitting.takes(where, path)]:
                _judge_on(name, chosen, mine, choice, plan, run, results, output)
    finally:
        tell(results, output, full)
    return results.exit_code


def _load(paths: Sequence[Path], task: Path | None, results: Results, output: Output) -> Iterator[tuple[Path, Item]]:
    from kengine import tasks
    from kengine.tasks.paths import show_path

    for path in paths:
        try:
            item = tasks.load([path], task)
        except KengineError as error:
            _fail(results, str(path), error, output)
        except OSError as error:
            _fail(results, str(path), UsageError(f"{path}: cannot be read: {error.strerror or error}"), output)
        else:
            yield path, replace(item, key=show_path(path))


def _judge_on(
    backend: str | None, target: str | None, items: list[Item], choice: Choice, plan: Plan, run: Path | None,
    results: Results, output: Output,
) -> None:  # fmt: skip
    # No chip asked for means those that the target itself names.
    beside = choice.compile_for or None
    workers = choice.workers or min(len(items), default_workers())
    engine = make_engine(backend, target, plan, beside, workers, run)
    # A bar and JSON lines on one terminal would write over each other.
    silent = output.quiet or (output.as_json and sys.stdout.isatty())
    with engine:
        announce(engine, output)
        with console.progress(len(items), "judging", silent) as bar:
            outcomes: Iterable[Verdict | KengineError] = engine.verify_many(items, return_exceptions=True)
            for item, outcome in zip(items, outcomes):
                if isinstance(outcome, Verdict):
                    keep(results, outcome, output)
                    bar.advance(f"{item.key} {outcome.status}")
                else:
                    _fail(results, item.key, outcome, output)
                    bar.advance(f"{item.key} {type(outcome).__name__}")


def make_engine(
    backend: str | None, target: str | None, plan: Plan, compile_for: Sequence[str] | None, workers: int | None,
    run: Path | None,
) -> Engine:  # fmt: skip
    """An engine, or the error with what to do about a target that cannot measure when it is to."""
    from kengine.engine import Engine, selection

    try:
        return Engine(backend, target, compile_for=compile_for, plan=plan, workers=workers, run=run)
    except UsageError as error:
        advice = selection.how_to_time(backend, target, plan.device_only) if plan.timed else ""
        if not advice:
            raise
        raise UsageError(f"{error}; {advice}") from error


def default_workers() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0))


def announce(engine: Engine, output: Output) -> None:
    """The first line: which target was chosen, whether it is an emulator, and for which chips it is compiled beside."""
    from kengine.engine import selection

    if output.quiet:
        return
    info = engine.info
    here = "a device" if Capability.launch in info.capabilities else "no such device here, so nothing is launched"
    line = f"target {info.target}: {'an emulator, it says nothing about speed' if info.emulated else here}"
    if engine.compile_for:
        line += f"; compiled for {', '.join(map(str, engine.compile_for))} beside it"
    elif missing := selection.why_not_compiled(engine.backend, info):
        line += f"; not compiled for a chip: {missing}"
    if info.note:
        line += f" ({info.note})"
    _aside(line, output)


def _aside(line: str, output: Output) -> None:
    """A line around the results: on stdout, or with --json on stderr when a person is looking."""
    if not output.as_json:
        click.echo(clean(line))
    elif sys.stderr.isatty():
        click.echo(clean(line), err=True)


def keep(results: Results, verdict: Verdict, output: Output) -> None:
    """Note a verdict; with --json it is written at once, so that nothing finished is ever lost."""
    from kengine import codec

    results.verdicts.append(verdict)
    results.codes.append(code_of(verdict))
    if output.as_json:
        click.echo(codec.dumps(verdict))


def _fail(results: Results, file: str, error: KengineError, output: Output) -> None:
    if debugging():
        traceback.print_exception(type(error), error, error.__traceback__)
    from kengine.tasks.paths import show_path

    kind, file, message = type(error).__name__, show_path(file), show_path(str(error))
    told_before = isinstance(error, TaskError) and any((k, m) == (kind, message) for _, k, m in results.errors)
    results.errors.append((file, kind, message))
    results.codes.append(exit_code(error))
    if output.as_json:
        body = {
            "schema": ERROR_SCHEMA,
            "error": kind,
            "message": message,
            "candidate": file,
            "exit_code": exit_code(error),
        }
        click.echo(json.dumps(body, separators=(",", ":")))
    if told_before:
        return
    # What is wrong with a task is no candidate's matter: it is said once, and names the task's own file.
    say("error", message if isinstance(error, TaskError) else about(file, message or kind))
    if hint := hint_for(error):
        say("hint", hint)


def code_of(verdict: Verdict) -> int:
    """Exit code of one verdict: 0 passed, 4 cannot be judged here, 1 failed."""
    return {Status.passed: 0, Status.unsupported: 4}.get(verdict.status, 1)


def tell(results: Results, output: Output, full: bool = False) -> None:
    """The end: one verdict in full or the table of many, and the HTML report."""
    if output.html is not None and (results.verdicts or results.errors):
        from kengine.report.html import write_page

        try:
            write_page(output.html, results.verdicts, results.errors)
        except OSError as error:
            raise UsageError(f"--html {output.html}: cannot be written: {error.strerror or error}") from error
        if not output.quiet:
            _aside(f"report: {output.html}", output)
    if output.as_json or not results.verdicts:
        return
    from kengine.report.table import verdict_table
    from kengine.report.text import verdict_text

    out = console.stdout()
    single = len(results.verdicts) == 1 and not results.errors
    for verdict in results.verdicts if full or single else ():
        out.print(verdict_text(verdict))
        out.print()
    if not single:
        out.print(verdict_table(results.verdicts, results.errors))


def _check_writable(path: Path) -> None:
    folder = path.parent
    if path.is_dir():
        raise UsageError(f"--html {path}: is a folder, expected a file to write")
    if not folder.is_dir():
        raise UsageError(f"--html {path}: there is no folder {folder}")
