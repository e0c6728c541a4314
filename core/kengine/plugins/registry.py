"""Which backends and plugins are installed, read from package metadata; nothing is imported.

A backend is an entry point in the group `kengine.backends` (its name is the backend's name), a rule pack or an
observer one in `kengine.plugins`. A distribution whose metadata cannot be read is warned of and left out.
"""

from __future__ import annotations

import os
import re
import warnings
from dataclasses import dataclass

from kengine.errors import BackendConflict, BackendNotFound

BACKENDS = "kengine.backends"
PACKS = "kengine.plugins"


class PluginWarning(UserWarning):
    """A plugin is at fault in a way that need not stop anything: it is slow, was refused, or raised."""


@dataclass(frozen=True, order=True)
class Installed:
    """One entry point, not imported: who ships it (distribution and version), its name, and the module it names."""

    distribution: str
    name: str
    module: str
    version: str

    @property
    def origin(self) -> str:
        """Distribution and version, for a person."""
        return f"{self.distribution} {self.version}"


def installed(group: str = BACKENDS) -> tuple[Installed, ...]:
    """List the entry points of a group, sorted by distribution and name; the first distribution of a name counts."""
    from importlib.metadata import distributions

    found: set[Installed] = set()
    seen: set[str] = set()
    for distribution in distributions():
        where = str(getattr(distribution, "_path", "a distribution"))
        try:
            text = distribution.read_text("entry_points.txt") or ""
            if group not in text:
                continue
            name = str(distribution.metadata["Name"] or "")
            if not name:
                raise ValueError("its metadata has no name")
            key = re.sub(r"[-_.]+", "-", name).lower()
            if key in seen:  # the same distribution again, further down the path: Python imports the first
                continue
            seen.add(key)
            found.update(
                Installed(name, e.name, e.value.strip(), str(distribution.version))
                for e in distribution.entry_points
                if e.group == group
            )
        except Exception as error:
            warnings.warn(
                f"{where}: cannot read its plugins ({type(error).__name__}: {error}); reinstall or remove it",
                PluginWarning,
                stacklevel=2,
            )
    return tuple(sorted(found))


def find(name: str) -> Installed:
    """Find the one backend of a name. Raises BackendNotFound, or BackendConflict when two distributions offer it."""
    every = installed()
    offers = [i for i in every if i.name == name]
    if not offers:
        from difflib import get_close_matches

        names = sorted({i.name for i in every})
        near = get_close_matches(name, names, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise BackendNotFound(
            f"no backend {name!r} is installed; installed backends: {', '.join(names) or 'none'}{hint}", name
        )
    if len(offers) > 1:
        listed = " and ".join(f"{i.origin} (module {i.module})" for i in offers)
        raise BackendConflict(
            f"backend {name!r} is offered by {listed}; uninstall all but one",
            name,
            ", ".join(i.distribution for i in offers),
        )
    return offers[0]


def packs() -> tuple[Installed, ...]:
    """List rule packs and observers, in the order in which they are registered; none when KENGINE_NO_PLUGINS=1."""
    if os.environ.get("KENGINE_NO_PLUGINS", "") not in ("", "0"):
        return ()
    return installed(PACKS)
