"""`kengine replay`: reach a recorded verdict again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kengine.cli.likeness import Likeness
    from kengine.config import Plan
    from kengine.model import Verdict

SCHEMA = "kengine.replay/1"
"""Schema of the line that --json writes for one verdict."""


@click.command("replay")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="VERDICTS...")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else.")
def command(files: tuple[Path, ...], as_json: bool) -> int:
    """Judge recorded candidates again, on the recorded target with the recorded seeds and plan, and say for each
    stage whether it came out the same.

    Exit code 0 when all did, 1 when something differs. Times never repeat exactly: their label is compared.
    """
    from kengine.cli import records
    from kengine.cli.failure import about, exit_code, say, worst
    from kengine.cli.likeness import compare
    from kengine.errors import KengineError

    codes = []
    for recorded in records.read(files).verdicts:
        try:
            again = _judge(recorded)
        except KengineError as error:
            say("error", about(_name(recorded), str(error)))
            codes.append(exit_code(error))
            continue
        likenesses = compare(recorded, again)
        codes.append(int(any(not line.same for line in likenesses)))
        _tell(recorded, again, likenesses, as_json)
    return worst(codes)


def recorded_plan(verdict: Verdict) -> tuple[Plan, tuple[str, ...]]:
    """The plan that a verdict was reached with, its salt included, and what was compiled for beside the launch.

    Without its opinion: a record must not choose which variable of this machine is sent to which place.
    """
    from kengine import codec
    from kengine.config import Plan

    values = _thaw(verdict.plan)
    named = values.pop("compile_for", None)
    values.pop("opinion", None)
    plan = codec.from_json({**values, "salt": verdict.salt}, Plan)
    if isinstance(named, list):
        return plan, tuple(str(target) for target in named)
    artifacts = verdict.stages.compile.artifacts if verdict.stages.compile else ()
    return plan, tuple(str(a.target) for a in artifacts if a.target != verdict.target)


def _thaw(value: Any) -> Any:
    """A record's tuples as the lists that JSON has."""
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    return [_thaw(item) for item in value] if isinstance(value, tuple) else value


def _judge(recorded: Verdict) -> Verdict:
    from kengine.engine import Engine
    from kengine.tasks.item import Item

    plan, compile_for = recorded_plan(recorded)
    with Engine(target=str(recorded.target), compile_for=compile_for, plan=plan, workers=1) as engine:
        return engine.verify(Item(recorded.candidate, recorded.task))


def _name(verdict: Verdict) -> str:
    from kengine.report.plain import name

    return name(verdict)


def _tell(recorded: Verdict, again: Verdict, likenesses: list[Likeness], as_json: bool) -> None:
    from kengine.cli.likeness import changes

    if as_json:
        body = {
            "schema": SCHEMA,
            "candidate": recorded.candidate.main.path,
            "same": all(line.same for line in likenesses),
            "status": {"then": str(recorded.status), "now": str(again.status)},
            "environment": changes(recorded, again),
            "stages": {line.what: {"same": line.same, "text": line.text} for line in likenesses},
        }
        click.echo(json.dumps(body, separators=(",", ":"), allow_nan=False))
        return
    from rich import box
    from rich.table import Table

    from kengine.cli import console
    from kengine.report.table import cell

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for header in (_name(recorded), "", ""):
        table.add_column(cell(header))
    for line in likenesses:
        state = cell("same", "green") if line.same else cell("different", "bold red")
        table.add_row(cell(line.what), state, cell(line.text))
    out = console.stdout()
    out.print(table)
    for change in changes(recorded, again):
        out.print(cell(f"  {change}", "dim"))
    out.print()
