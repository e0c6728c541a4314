"""`kengine score`: metrics over recorded verdicts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from kengine.model import Verdict
    from kengine.rewards.scoring import Score

SCHEMA = "kengine.score/1"
"""Schema of the line that --json writes for one target."""


@click.command("score")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="VERDICTS...")
@click.option(
    "--k", "ks", type=click.IntRange(1), multiple=True, metavar="K", help="Out of K candidates; may be repeated."
)
@click.option(
    "--p", "ps", type=click.FloatRange(0), multiple=True, metavar="P", help="Threshold of fast_p; may be repeated."
)
@click.option("--speed/--no-speed", default=None, help="Want the speed metrics, or leave them out.")
@click.option("--allow-self-referenced", is_flag=True, help="Score candidates that brought their own reference.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else.")
def command(
    files: tuple[Path, ...], ks: tuple[int, ...], ps: tuple[float, ...], speed: bool | None,
    allow_self_referenced: bool, as_json: bool,
) -> int:  # fmt: skip
    """Score verdicts that `kengine verify --json` wrote: comp@k, corr@k and pass@k, and where candidates were timed
    speed@k, fast_p and the geometric mean of the speed-ups. Candidates of one task are its samples; each target is
    scored on its own. `-` reads stdin.

    \b
    kengine score verdicts.jsonl --k 1 --k 8
    kengine score verdicts.jsonl --p 0 --p 1 --p 1.5 --json
    """
    from kengine.cli import records
    from kengine.cli.failure import say
    from kengine.rewards import scoring

    recorded = records.read(files)
    wants_speed = True if ps and speed is None else speed
    targets: dict[str, list[Verdict]] = {}
    for verdict in recorded.verdicts:
        targets.setdefault(str(verdict.target), []).append(verdict)
    if recorded.errors:
        kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(Counter(k for _, k, _ in recorded.errors).items()))
        say("note", f"{len(recorded.errors)} candidates got no verdict and are left out ({kinds})")
    scores = [
        scoring.score(
            verdicts, ks=ks or (1,), ps=ps or (0.0, 1.0, 2.0), speed=wants_speed,
            allow_self_referenced=allow_self_referenced,
        )
        for verdicts in targets.values()
    ]  # fmt: skip
    if not scores:
        from kengine.errors import UsageError

        raise UsageError("no verdict among these files: there is nothing to score")
    if as_json:
        for score in scores:
            click.echo(json.dumps(body(score), separators=(",", ":"), allow_nan=False))
    else:
        _print(scores)
    return 0


def body(score: Score) -> dict[str, Any]:
    """One score as JSON; the metrics are objects from k or p to a share."""
    interval = score.speedup
    return {
        "schema": SCHEMA,
        "target": score.target,
        "tasks": score.tasks,
        "candidates": score.candidates,
        "left_out": score.left_out,
        "comp_at_k": _keyed(score.comp),
        "corr_at_k": _keyed(score.corr),
        "pass_at_k": _keyed(score.passed),
        "timed": score.timed,
        "speed_at_k": _keyed(score.speed),
        "fast_p": _keyed(score.fast),
        "speedup": None
        if interval is None
        else {"value": interval.value, "low": interval.low, "high": interval.high, "tasks": interval.count},
    }


def _keyed(values: Any) -> dict[str, float]:
    return {f"{key:g}": value for key, value in values.items()}


def _print(scores: list[Score]) -> None:
    from rich import box
    from rich.table import Table

    from kengine.cli import console
    from kengine.report.plain import count, ratio
    from kengine.report.table import cell

    out = console.stdout()
    for n, score in enumerate(scores):
        if n:
            out.print()
        left = f", {score.left_out} left out as unsupported" if score.left_out else ""
        head = f"{score.target}: {count(score.candidates, 'candidate')} of {count(score.tasks, 'task')}{left}"
        out.print(cell(head, "bold", lines=False))
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        table.add_column("metric")
        for k in score.comp:
            table.add_column(f"@{k}", justify="right")
        rows = {"comp": score.comp, "corr": score.corr, "pass": score.passed, "speed": score.speed}
        for metric, values in rows.items():
            if values:
                table.add_row(metric, *(f"{value:.1%}" for value in values.values()))
        out.print(table)
        if not score.timed:
            out.print(cell("no speed: not every right candidate was timed", "dim"))
            continue
        fast = ", ".join(f"fast_{p:g} {value:.1%}" for p, value in score.fast.items())
        out.print(cell(fast))
        if score.speedup is not None:
            s = score.speedup
            tasks = count(s.count, "task")
            out.print(
                cell(f"speed-up {ratio(s.value)}x ({ratio(s.low)} to {ratio(s.high)}), geometric mean of {tasks}")
            )
