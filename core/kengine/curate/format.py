"""Which loader reads a source: every loader is shown a glimpse of it, and the one that recognises most reads it."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pluggy

from kengine.curate.record import Outcome
from kengine.errors import ContractViolation, PluginError, UsageError

ROWS_SHOWN = 8
FILES_SHOWN = 20_000
_CLEARLY = 3
"""By how much a near miss must beat what would read a source, for the source to be taken for a broken one."""

_ROW_SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".jsonl.gz", ".json.gz", ".ndjson.gz")


@dataclass(frozen=True)
class Glimpse:
    """What a loader sees of a source before it says whether it can read it.

    path: a file or a folder. files: for a folder, relative paths below it, sorted, hidden ones left out. rows: for a
    file of rows (JSON, JSON lines, Parquet; also the only such files of a folder), the first few. text: for any other
    text file, how it begins.
    """

    path: Path
    files: tuple[str, ...] = ()
    rows: tuple[Mapping[str, Any], ...] = ()
    text: str = ""

    @cached_property
    def columns(self) -> frozenset[str]:
        """Keys of the rows; those of an object within are there as `outer.inner` as well."""
        found: set[str] = set()
        pending = [("", row) for row in self.rows]
        while pending:
            prefix, row = pending.pop()
            for key, value in row.items():
                found.add(f"{prefix}{key}")
                if isinstance(value, Mapping) and prefix.count(".") < 2:
                    pending.append((f"{prefix}{key}.", value))
        return frozenset(found)


@dataclass(frozen=True)
class Loader:
    """An offer to read a source. `read` yields a Sample or a Loss for each row, in the same order every time.

    certainty: how many names that tell formats apart were recognised; the highest offer wins. A sample's uid and
    source are filled in later; its origin (`file:row`, unique within the source) is the loader's to give.
    split(wanted): where rows can be passed over cheaply, as `read`, with None for each outcome whose 0-based number is
    not wanted.
    """

    format: str
    certainty: int
    read: Callable[[], Iterator[Outcome]]
    split: Callable[[Callable[[int], bool]], Iterator[Outcome | None]] | None = None


@dataclass(frozen=True)
class NearMiss:
    """A source that is nearly of a format: what is missing, as a sentence that names the field."""

    format: str
    closeness: int
    problem: str


def look(path: Path) -> Glimpse:
    """Take a glimpse of a file or folder. Raises UsageError when it is not there or cannot be read."""
    from kengine.curate import table

    if path.is_dir():
        files = tuple(itertools.islice(_walk(path), FILES_SHOWN))
        if not files:
            raise UsageError(f"{path}: the folder is empty, expected samples or tasks")
        tables = [f for f in files if f.lower().endswith(_ROW_SUFFIXES)]
        others = [f for f in files if f not in tables and not f.lower().endswith((".md", ".txt"))]
        rows = table.head(path / tables[0], ROWS_SHOWN) if tables and not others else ()
        return Glimpse(path, files, tuple(rows))
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder{_near(path)}")
    if path.name.lower().endswith(_ROW_SUFFIXES):
        rows = table.head(path, ROWS_SHOWN)
        if not rows:
            broken = next((f"{path}:{n}: {why}" for n, why in table.read(path) if isinstance(why, str)), "")
            raise UsageError(f"no row can be read, the first is {broken}" if broken else f"{path}: holds no row")
        return Glimpse(path, (), tuple(rows))
    from kengine.tasks.source import read_text

    return Glimpse(path, (), (), read_text(path)[:100_000])


def find(glimpse: Glimpse, wanted: str = "") -> Loader:
    """The loader of a source, by content or by name. Raises UsageError naming what is missing, or all formats."""
    answers = [(title, answer) for title, call in _hooks() for answer in _ask(title, call, glimpse)]
    offers = [a for _, a in answers if isinstance(a, Loader) and wanted in ("", a.format)]
    offers.sort(key=lambda a: -a.certainty)
    misses = [a for _, a in answers if isinstance(a, NearMiss) and wanted in ("", a.format)]
    best = max(misses, key=lambda a: a.closeness, default=None)
    if best is not None and (not offers or best.closeness >= _weight(offers[0]) + _CLEARLY):
        instead = f'; format = "{offers[0].format}" reads it as that' if offers else ""
        raise UsageError(f"{glimpse.path}: looks like {best.format}, but {best.problem}{instead}")
    if len(offers) > 1 and offers[0].certainty == offers[1].certainty:
        names = sorted(a.format for a in offers if a.certainty == offers[0].certainty)
        raise UsageError(f'{glimpse.path}: may be {" or ".join(names)}: say which with format = "{names[0]}"')
    if offers:
        return offers[0]
    if wanted:
        raise UsageError(f"{glimpse.path}: is not of the format {wanted!r}; formats: {', '.join(formats())}")
    has = f"it has the columns {', '.join(sorted(c for c in glimpse.columns if '.' not in c))}" if glimpse.rows else (
        f"it has the files {', '.join(glimpse.files[:5])}{', ...' if len(glimpse.files) > 5 else ''}"
        if glimpse.files else "it is a text file"
    )  # fmt: skip
    raise UsageError(f"{glimpse.path}: no loader knows this source ({has}); formats: {', '.join(formats())}")


def _weight(offer: Loader) -> int:
    """How sure an offer is; one that reads anything (certainty 0) gives way to every near miss."""
    return offer.certainty if offer.certainty else -_CLEARLY


def formats() -> list[str]:
    """Names of the formats that kengine itself reads."""
    from kengine.curate.loaders import FORMATS

    return list(FORMATS)


def _ask(title: str, call: Callable[..., Any], glimpse: Glimpse) -> list[Loader | NearMiss]:
    found: list[Loader | NearMiss] = []
    for answer in call(glimpse=glimpse):
        for each in answer if isinstance(answer, (list, tuple)) else [answer]:
            if not isinstance(each, (Loader, NearMiss)):
                raise ContractViolation(
                    f"{title}: kengine_load returned {type(each).__name__}, want Loader, NearMiss, a list or None"
                )
            found.append(each)
    return found


def _hooks() -> list[tuple[str, Callable[..., Any]]]:
    """The core's loaders and those of every pack that has some; a pack that is broken is warned of and left out."""
    from kengine.curate import loaders
    from kengine.plugins import inspection, registry
    from kengine.plugins.hooks import Hooks
    from kengine.plugins.registry import PluginWarning

    manager = pluggy.PluginManager("kengine")
    manager.add_hookspecs(Hooks)
    members: list[tuple[str, Any]] = [("kengine", loaders)]
    for pack in registry.packs():
        try:
            module = inspection.import_plugin(pack)
            if any(hook.name == "kengine_load" for hook in inspection.check_plugin(pack, module, manager, False)):
                members.append((inspection.title(pack), module))
        except PluginError as error:
            warnings.warn(f"{error}; going on without it", PluginWarning, stacklevel=3)
    for title, module in members:
        manager.register(module, title)
    modules = [module for _, module in members]
    return [
        (title, manager.subset_hook_caller("kengine_load", [m for m in modules if m is not module]))
        for title, module in members
    ]


def _walk(folder: Path) -> Iterator[str]:
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if f[0] not in "._" and f != "__pycache__")
        for name in sorted(names):
            if name[0] != ".":
                yield os.path.relpath(os.path.join(root, name), folder)


def _near(path: Path) -> str:
    from difflib import get_close_matches

    try:
        near = get_close_matches(path.name, [p.name for p in path.parent.iterdir()], 1)
    except OSError:
        return ""
    return f"; did you mean {path.with_name(near[0])}?" if near else ""
