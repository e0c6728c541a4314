"""`kengine compile`: compile candidates, with or without the device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kengine.cli import options


@click.command("compile")
@options.candidates
@options.targets
@click.option("--compile-for", metavar="ARCH", multiple=True, help="Compile for this chip too; may be repeated.")
@click.option("--run", type=click.Path(path_type=Path), metavar="DIR", help="Keep verdicts there, go on where it was.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Candidates side by side; default: processors.")
@click.option("--timeout", "compile_timeout_s", type=float, metavar="S", help="Seconds for compiling for one target.")
@options.output
def command(as_json: bool, html: Path | None, quiet: bool, **given: Any) -> int:
    """Compile candidates and show registers, spills, shared memory and occupancy; no kernel is launched.

    The device need not be there. A task is needed all the same: its inputs decide what is compiled.

    \b
    kengine compile --target triton:sm_90 --target triton:gfx942 kernel.py
    """
    from kengine.cli.judging import Output, judge

    return judge(output=Output(as_json, html, quiet), full=not as_json, check=False, time=False, **given)
