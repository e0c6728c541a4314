"""Formats of rows: which columns they need, what a row without them lacks, and the loop that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

from kengine.curate import table
from kengine.curate.format import Glimpse, Loader, NearMiss
from kengine.curate.record import Loss, Outcome, Sample
from kengine.errors import TaskError, UsageError

ROW_SUFFIXES = (".jsonl", ".ndjson", ".json", ".parquet", ".jsonl.gz", ".ndjson.gz", ".json.gz")


class RowError(Exception):
    """A row that cannot be used: the reason that is counted, and a sentence that names the field."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True)
class RowFormat:
    """One format of rows.

    required: columns without which it is another format; `a|b` for either, `a.b` for a key within an object.
    telling: columns that occur in this format only, so that a file which has one but lacks another is a near miss.
    make(row, origin): the sample of a row, or several; raises RowError, TaskError or UsageError.
    single: never several, so that rows can be passed over.
    """

    name: str
    required: tuple[str, ...]
    telling: tuple[str, ...]
    make: Callable[[Mapping[str, Any], str], Outcome | Iterable[Outcome]]
    single: bool = False

    def recognise(self, glimpse: Glimpse) -> list[Loader | NearMiss]:
        """Offer to read rows that have all columns; explain what others lack when they have a telling one."""
        columns = glimpse.columns
        missing = [want for want in self.required if not any(w in columns for w in want.split("|"))]
        if not columns:
            return []
        if not missing:
            split = partial(pass_over, glimpse, self.make) if self.single else None
            return [Loader(self.name, len(self.required), lambda: read(glimpse, self.make), split)]
        told = [t for t in self.telling if t in columns]
        there = len(self.required) - len(missing)
        misspelt = all(self._near(want, columns, 0.8) for want in missing)
        if not told or (there + len(told) <= len(missing) and not misspelt):
            return []
        names = [self._explain(want, columns) for want in missing]
        return [NearMiss(self.name, there + len(told), f"its rows lack {', '.join(names)}")]

    def _explain(self, want: str, columns: frozenset[str]) -> str:
        near = self._near(want, columns, 0.6)
        text = " or ".join(repr(w) for w in want.split("|"))
        return f"the field {text} (did you mean {near!r}?)" if near else f"the field {text}"

    def _near(self, want: str, columns: frozenset[str], cutoff: float) -> str:
        """The column that is spelt most like one that is wanted; "" for none."""
        known = {c for r in self.required for c in r.split("|")}
        others = sorted(columns - known)
        found = [(SequenceMatcher(None, w, c).ratio(), c) for w in want.split("|") for c in others]
        ratio, column = max(found, default=(0.0, ""))
        return column if ratio >= cutoff else ""


def tables(glimpse: Glimpse) -> list[tuple[str, Path]]:
    """Name and path of every file of rows of a source."""
    if not glimpse.files:
        return [(glimpse.path.name, glimpse.path)]
    return [(name, glimpse.path / name) for name in glimpse.files if name.lower().endswith(ROW_SUFFIXES)]


def read(glimpse: Glimpse, make: Callable[[Mapping[str, Any], str], Outcome | Iterable[Outcome]]) -> Iterator[Outcome]:
    """Every row of a source as a sample, or as the loss of a row that is broken."""
    for name, path in tables(glimpse):
        for number, row in table.read(path):
            origin = f"{name}:{number}"
            if isinstance(row, str):
                yield Loss(origin, "malformed_row", f"{origin}: {row}")
                continue
            yield from attempt(make, row, origin)


def pass_over(
    glimpse: Glimpse, make: Callable[[Mapping[str, Any], str], Outcome | Iterable[Outcome]],
    wanted: Callable[[int], bool],
) -> Iterator[Outcome | None]:  # fmt: skip
    """As `read` for rows that give one outcome each, with None for those whose 0-based number is not wanted."""
    before = 0
    for name, path in tables(glimpse):
        count = 0
        for line, row in table.read_some(path, lambda n, before=before: wanted(before + n)):  # type: ignore[misc]
            count += 1
            if row is None or not wanted(before + count - 1):
                yield None
                continue
            origin = f"{name}:{line}"
            if isinstance(row, str):
                yield Loss(origin, "malformed_row", f"{origin}: {row}")
                continue
            yield from attempt(make, row, origin)
        before += count


def attempt(make: Callable[[Any, str], Outcome | Iterable[Outcome]], row: Any, origin: str) -> Iterator[Outcome]:
    """What `make` gives for one row or file, its exceptions as losses."""
    try:
        made = make(row, origin)
        outcomes = [made] if isinstance(made, (Sample, Loss)) else list(made)
    except RowError as error:
        outcomes = [Loss(origin, error.reason, f"{origin}: {error.detail}")]
    except TaskError as error:
        outcomes = [Loss(origin, "broken_task", f"{origin}: {error}")]
    except UsageError as error:
        outcomes = [Loss(origin, "unreadable", f"{origin}: {error}")]
    yield from outcomes


def text(row: Mapping[str, Any], *keys: str, required: bool = True) -> str:
    """The first of these fields that holds text. Raises RowError naming the field."""
    for key in keys:
        value = row.get(key)
        if value is None:
            continue
        if isinstance(value, str):
            if value and not value.isspace():
                return value
        else:
            raise RowError("malformed_row", f"field {key!r}: want text, got {type(value).__name__}")
    if required:
        raise RowError("no_code", f"no text in the field {' or '.join(map(repr, keys))}")
    return ""


def plain(row: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """These fields of a row, without those that are missing or no finite JSON value."""
    found = {}
    for key in keys:
        value = row.get(key)
        if value is not None and (isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value))):
            found[key] = value
    return found


def license_of(row: Mapping[str, Any]) -> str:
    """The licence of a row from `license` or `licenses`, several joined by OR as SPDX does."""
    for key in ("license", "licence", "licenses"):
        value = row.get(key)
        if isinstance(value, str) and value:
            return value
        if isinstance(value, (list, tuple)) and value:
            return " OR ".join(str(v) for v in value)
    return ""
