"""`kengine lint`: look at the text of candidates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kengine.cli import options

if TYPE_CHECKING:
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
    """Look at the text of candidates and report findings; nothing is executed, no device or toolchain is needed."""
    from kengine import config, lint, tasks
    from kengine.cli.failure import about, say, worst
    from kengine.cli.files import check_file, expand
    from kengine.errors import KengineError

    settings = config.read()
    choice = options.choose(settings, backend, target)
    plan = options.merge_plan(settings.plan, select=select, ignore=ignore)
    if task is not None:
        check_file(task, "a task")
    codes: list[int] = []
    unheard = set(plan.select)
    for where in choice.pairs:
        loaded, chosen = _target(*where)
        for path in expand(files, task):
            try:
                item = tasks.load([path], task)
            except KengineError as error:
                say("error", about(str(path), str(error)))
                codes.append(error.exit_code)
                continue
            record = lint.check(item.candidate, item.task, chosen, loaded, plan.select, plan.ignore)
            codes.append(int(any(f.severity == "reject" for f in record.findings)))
            unheard -= {wanted for wanted in unheard if any(f.code.startswith(wanted) for f in record.findings)}
            _tell(path, record, as_json)
    for wanted in sorted(unheard - _known(unheard)):
        say("warning", f"--select {wanted}: no rule of kengine's own has a code that begins so, and no rule of the "
            "backend found anything by one; docs/rules.md lists the codes")  # fmt: skip
    return worst(codes)


def _known(prefixes: set[str]) -> set[str]:
    """Those of these beginnings with which the code of a rule of the core begins."""
    from kengine.lint.rules import RULES

    return {prefix for prefix in prefixes if any(rule.code.startswith(prefix) for rule in RULES)}


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


def _tell(path: Path, record: LintRecord, as_json: bool) -> None:
    from kengine import codec
    from kengine.report.plain import clean, count

    if as_json:
        body: dict[str, Any] = {"schema": SCHEMA, "candidate": str(path), **codec.to_json(record)}
        click.echo(json.dumps(body, separators=(",", ":"), allow_nan=False))
        return
    for f in record.findings:
        colour = "red" if f.severity == "reject" else "yellow"
        place = f"{path}:{f.line}:{f.column}" if f.line else str(path)
        click.echo(f"{clean(place)}: {click.style(f.code, fg=_colour(colour))} {f.severity}: {clean(f.message)}")
    if not record.findings:
        click.echo(f"{clean(str(path))}: no findings ({count(record.rules, 'rule')})")


def _colour(name: str) -> str | None:
    import os

    return None if os.environ.get("NO_COLOR") else name
