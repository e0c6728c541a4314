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

    The exit code is that of the run that wrote them only for verdicts: 0 all passed, 1 one failed, 4 one unsupported.
    """
    from kengine.cli import records
    from kengine.cli.judging import Output, Results, code_of, tell

    recorded = records.read(files)
    codes = [code_of(verdict) for verdict in recorded.verdicts]
    results = Results(recorded.verdicts, recorded.errors, codes)
    tell(results, Output(False, html, False), full)
    return results.exit_code
