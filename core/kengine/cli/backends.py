"""`kengine backends`: every backend and target, and what each can do here."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from kengine.errors import BackendNotFound, KengineError
from kengine.model import Capability, TargetInfo

if TYPE_CHECKING:
    from kengine.plugins.registry import Installed

SCHEMA = "kengine.backend/1"
"""Schema of the line that --json writes for one backend."""


@dataclass(frozen=True)
class Listing:
    """One backend: who ships it, its targets, or the error that keeps it from being used."""

    name: str
    distribution: str
    version: str
    targets: tuple[TargetInfo, ...] = ()
    error: KengineError | None = None


@click.command("backends")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line on stdout, and nothing else.")
def command(names: tuple[str, ...], as_json: bool) -> int:
    """List every backend and target: what it can do on this machine, and if not, what would be needed.

    With names only those; a broken backend that was named makes the exit code 3.
    """
    found = listings(names)
    if as_json:
        for listing in found:
            click.echo(json.dumps(_json(listing), separators=(",", ":"), allow_nan=False))
    else:
        _print(found)
    if names:
        from kengine.cli.failure import exit_code, worst

        return worst([exit_code(listing.error) for listing in found if listing.error is not None])
    return 0


def listings(names: tuple[str, ...] = ()) -> list[Listing]:
    """Ask every backend, side by side: some look for a driver in a child process, which takes seconds.

    Raises BackendNotFound for a name that is not installed.
    """
    from kengine.plugins import registry

    every = registry.installed()
    for name in names:
        if all(plugin.name != name for plugin in every):
            registry.find(name)
            raise BackendNotFound(f"no backend {name!r} is installed", name)
    plugins = [plugin for plugin in every if not names or plugin.name in names]
    if not plugins:
        return []
    with ThreadPoolExecutor(len(plugins)) as pool:
        return sorted(pool.map(_ask, plugins), key=lambda listing: (listing.name, listing.distribution))


def _ask(plugin: Installed) -> Listing:
    from kengine.plugins import backend as backends

    try:
        targets = backends.load(plugin.name).targets()
    except KengineError as error:
        return Listing(plugin.name, plugin.distribution, plugin.version, error=error)
    return Listing(plugin.name, plugin.distribution, plugin.version, targets)


def _json(listing: Listing) -> dict[str, Any]:
    from kengine import codec

    error = listing.error
    return {
        "schema": SCHEMA,
        "backend": listing.name,
        "distribution": listing.distribution,
        "version": listing.version,
        "error": None if error is None else {"error": type(error).__name__, "message": str(error)},
        "targets": [codec.to_json(info) for info in listing.targets],
    }


def _print(found: list[Listing]) -> None:
    from rich import box
    from rich.table import Table

    from kengine.cli import console
    from kengine.report.table import cell

    out = console.stdout()
    if not found:
        out.print("no backend is installed")
        return
    for i, listing in enumerate(found):
        if i:
            out.print()
        out.print(cell(f"{listing.name}  ({listing.distribution} {listing.version})", "bold"))
        if listing.error is not None:
            out.print(cell(f"  broken: {listing.error}", "red"))
            continue
        table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for header in ("target", *map(str, Capability)):
            table.add_column(header, no_wrap=True)
        table.add_column("notes", overflow="fold", ratio=1)
        for info in listing.targets:
            marks = [cell("yes", "green") if c in info.capabilities else cell("no", "dim") for c in Capability]
            table.add_row(cell(str(info.target)), *marks, cell(_notes(info)))
        out.print(table)
        if versions := _versions(listing.targets):
            out.print(cell(f"with {versions}", "dim"))


def _notes(info: TargetInfo) -> str:
    """Why not, once for each reason, then what else there is to know."""
    parts = ["emulator"] if info.emulated else []
    if info.note:
        parts.append(info.note)
    grouped: dict[str, list[str]] = {}
    for capability in Capability:
        if capability not in info.capabilities:
            grouped.setdefault(info.reasons.get(str(capability), "no reason given"), []).append(str(capability))
    parts += [f"no {' or '.join(names)}: {reason}" for reason, names in grouped.items()]
    return "; ".join(parts)


def _versions(targets: tuple[TargetInfo, ...]) -> str:
    """Versions of the toolchain, once for all targets of a backend."""
    found = {f"{name} {version}": None for info in targets for name, version in info.versions.items()}
    return ", ".join(found)
