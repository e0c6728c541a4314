"""`kengine verify`: judge candidates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from kengine.cli import options


@click.command("verify")
@options.candidates
@options.targets
@options.running
@options.timing
@options.linting
@options.opinion
@click.option("--time/--no-time", default=None, help="Measure candidates that are right.")
@options.output
def command(as_json: bool, html: Path | None, quiet: bool, **given: Any) -> int:
    """Judge candidates: lint, compile, launch, compare with the reference, check that the kernel does the work.

    FILES are candidates, folders of candidates or patterns. Without --task each file holds its own reference and
    inputs, and its verdict is marked as self-referenced.

    \b
    kengine verify --target triton:interpret kernel.py
    kengine verify --backend triton --task task.py candidates/ --json > verdicts.jsonl
    """
    from kengine.cli.judging import Output, judge

    return judge(output=Output(as_json, html, quiet), **given)
