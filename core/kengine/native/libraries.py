"""Shared libraries that a candidate has brought into its process, and what they lean on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from kengine.extension import linkage
from kengine.provenance import mappings
from kengine.runner import watch

Mapped = frozenset[str]


def mapped() -> Mapped:
    """Paths of the files that are mapped executable into this process."""
    return mappings.paths()


def vendors(paths: Iterable[str]) -> tuple[str, ...]:
    """File names of libraries that compute, such as libcublas.so.12, among some paths."""
    return tuple(sorted({name for path in paths if linkage.VENDOR.match(name := os.path.basename(path))}))


def tell(before: Mapped) -> None:
    """Note in a followed call which libraries that compute have come since `before`."""
    if watch.active():
        watch.libraries(vendors(mapped() - before))


def describe(before: Mapped, workdir: Path) -> tuple[set[str], set[str]]:
    """Libraries that compute and have come since `before`, and operators that libraries of the candidate's own import.

    Its own are those in `workdir` and in folders for temporary files, whatever built them.
    """
    new = mapped() - before
    names, operators = set(vendors(new)), set[str]()
    folders = tuple(str(p.resolve()) + os.sep for p in (workdir, Path(tempfile.gettempdir()), Path("/dev/shm")))
    for path in new:
        name = os.path.basename(path)
        if path.startswith(folders) and not name.startswith(("extension-", "program-", "libkengine_")):
            found = linkage.read(Path(path))
            names.update(found.libraries if found else ())
            operators.update(found.operators if found else ())
    return names, operators
