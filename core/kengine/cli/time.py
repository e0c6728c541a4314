"""`kengine time`: judge candidates and measure them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kengine.cli import options


@click.command("time")
@options.candidates
@options.targets
@options.running
@options.timing
@options.linting
@options.opinion
@click.option("--timed-cases", type=int, metavar="N", help="Measure N cases; default 1.")
@click.option("--budget", "time_budget_s", type=float, metavar="S", help="Seconds of measuring for one case.")
@options.output
def command(as_json: bool, html: Path | None, quiet: bool, **given: Any) -> int:
    """Judge candidates and measure those that are right against the reference, in turns, on a device.

    Only a device has a speed: an emulator is refused.
    """
    from kengine.cli.judging import Output, judge

    return judge(output=Output(as_json, html, quiet), full=not as_json, time=True, **given)
