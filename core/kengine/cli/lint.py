"""`kengine lint`: look at the text of candidates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kengine.cli import options

if TYPE_CHECKING:
    from kengine.errors import CandidateFault
    from kengine.model import LintRecord, Target
    from kengine.plugins.backend import Backend

SCHEMA = "kengine.lint/1"
"""Schema of the line that --json writes for one candidate."""


@click.command("lint")
@options.candidates
@options.targets
@options.linting
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else.")
def command(
    files: tuple[str, ...], task: Path | None, backend: str | None, target: tuple[str, ...], select: tuple[str, ...],
    ignore: tuple[str, ...], as_json: bool,
) -> int:  # fmt: skip
    """Look at the text of candidates and report findings; nothing is executed, no device or toolchain is needed.

    A task is needed all the same, by --task or in the same file: what a candidate may leave to libraries is its matter.
    So is --backend or --target, whose rules are added to kengine's own.

    Exit code: 1 when a rule rejects a candidate, or its text shows that it cannot be compiled or called.
    """
    from kengine import config, lint, tasks
    from kengine.cli import codes as lint_codes
    from kengine.cli.failure import about, exit_code, say, worst
    from kengine.cli.files import check_file
    from kengine.cli.fitting import fit
    from kengine.errors import KengineError
    from kengine.tasks.paths import show_path

    settings = config.read()
    choice = options.choose(settings, backend, target)
    plan = options.merge_plan(settings.plan, select=select, ignore=ignore)
    lint_codes.heed(plan, choice.backends, select, ignore)
    if task is not None:
        check_file(task, "a task")
    fitting = fit(files, task, choice.backends)
    for note in fitting.notes:
        say("note", note)
    codes: list[int] = []
    for file, misfit in fitting.errors:
        say("error", about(show_path(file), show_path(str(misfit))))
        codes.append(misfit.exit_code)
    for where, name in zip(choice.pairs, choice.backends):
        loaded, chosen = _target(*where)
        for path in fitting.paths:
            if not fitting.takes(name, path):
                continue
            try:
                item = tasks.load([path], task)
            except KengineError as error:
                say("error", about(show_path(path), str(error)))
                codes.append(exit_code(error))
                continue
            fault = tasks.examine(item.candidate, item.task)
            record = lint.check(item.candidate, item.task, chosen, loaded, plan.select, plan.ignore)
            codes.append(int(fault is not None or any(f.severity == "reject" for f in record.findings)))
            _tell(show_path(path), record, fault, as_json)
    return worst(codes)


def _target(backend: str | None, target: str | None) -> tuple[Backend, Target]:
    """Any target of the backend will do: a lint needs neither its device nor its toolchain."""
    from kengine.engine import selection
    from kengine.model import Target
    from kengine.plugins import backend as backends

    if target is not None:
        wanted = Target.parse(target)
        loaded = backends.load(wanted.backend)
        return loaded, selection.find(loaded, wanted).target
    assert backend is not None
    loaded = backends.load(backend)
    return loaded, loaded.targets()[0].target


def _tell(path: str, record: LintRecord, fault: CandidateFault | None, as_json: bool) -> None:
    from kengine import codec
    from kengine.report.plain import clean, count

    if as_json:
        body: dict[str, Any] = {"schema": SCHEMA, "candidate": path, **codec.to_json(record), "fault": None}
        if fault is not None:
            body["fault"] = {"status": fault.status, "message": fault.message, "line": fault.line}
        click.echo(json.dumps(body, separators=(",", ":"), allow_nan=False))
        return
    if fault is not None:
        place = f"{path}:{fault.line}" if fault.line else path
        problem = fault.message.removeprefix(f"{place}: ").removeprefix(f"{path}: ")
        click.echo(f"{clean(place)}: {click.style(fault.status, fg=_colour('red'))}: {clean(problem)}")
    for f in record.findings:
        colour = "red" if f.severity == "reject" else "yellow"
        place = f"{path}:{f.line}:{f.column}" if f.line else path
        click.echo(f"{clean(place)}: {click.style(f.code, fg=_colour(colour))} {f.severity}: {clean(f.message)}")
    if not record.findings and fault is None:
        click.echo(f"{clean(path)}: no findings ({count(record.rules, 'rule')})")


def _colour(name: str) -> str | None:
    import os

    return None if os.environ.get("NO_COLOR") else name
