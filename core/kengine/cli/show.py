"""`kengine show`: print recorded verdicts."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("show")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="VERDICTS...")
@click.option("--full", is_flag=True, help="Every verdict in full; the default for a single one.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), metavar="OUT", help="Write a report.")
def command(files: tuple[Path, ...], full: bool, html: Path | None) -> int:
    """Print verdicts that `kengine verify --json` wrote: one in full, many as a table. `-` reads stdin.

    Exit code: 0 when all passed, 1 when one failed, 4 when one could not be judged where it was run.
    """
    from kengine.cli import records
    from kengine.cli.failure import say
    from kengine.cli.judging import Output, Results, code_of, tell

    recorded = records.read(files)
    codes = [code_of(verdict) for verdict in recorded.verdicts]
    if not recorded.verdicts:
        for file, kind, message in recorded.errors:
            say("note", f"{file}: {kind}: {message}")
    results = Results(recorded.verdicts, recorded.errors, codes)
    tell(results, Output(False, html, False), full)
    return results.exit_code
