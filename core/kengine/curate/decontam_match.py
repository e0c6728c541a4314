"""What benchmarks hold, and which of it a sample matches: equal code, the same task, similar code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from kengine.curate.code.model import I64, U32
from kengine.curate.code.sketch import sketch
from kengine.curate.code.tasks import digest_reference, digest_text
from kengine.curate.code.tokens import Files
from kengine.curate.dedup_input import files_of
from kengine.curate.record import Loss, Sample, evolve
from kengine.errors import UsageError

if TYPE_CHECKING:
    from kengine.curate.decontaminate import Decontaminate
    from kengine.curate.load import Opened

SHORTEST = 40
"""Shingles that the shorter of two texts must have for one to count as part of the other."""

LISTED = 8
"""Matches of a sample that the audit lists."""

_GENERIC = frozenset({
    "candidate", "code", "example", "forward", "kernel", "main", "model", "modelnew", "my_kernel", "new_model",
    "problem", "reference", "sample", "solution", "solve", "source", "submission", "task", "test", "tests", "triton",
    "triton_kernel",
})  # fmt: skip
_NUMBERED = re.compile(r"(?:[a-z]+_?)?\d+")


@dataclass(frozen=True)
class Match:
    """One match. reason: `benchmark_copy`, `benchmark_task` or `benchmark_near`, the word that is counted.

    how: equal code, reference, name, similarity, containment. score: 1 for what is equal, else the similarity or share.
    matched: uid of the benchmark's item. part: "solution", "reference" or "task".
    """

    reason: str
    how: str
    score: float
    benchmark: str
    matched: str
    part: str

    def to_json(self) -> dict[str, Any]:
        """As it stands in the audit."""
        return {**vars(self), "score": round(self.score, 4)}


@dataclass
class _Held:
    """What one benchmark gave."""

    name: str
    path: str
    solutions: int = 0
    references: int = 0
    unreadable: int = 0
    first_problem: str = ""


class Index:
    """What some benchmarks hold, ready to be matched."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._items: list[tuple[str, str, str]] = []
        self._codes: list[Files] = []
        self._of_code: list[int] = []
        self._by_digest: dict[tuple[int, int], int] = {}
        self._by_reference: dict[tuple[int, int], int] = {}
        self._by_name: dict[str, int] = {}

    def add(self, name: str, path: str, outcomes: Iterable[Sample | Loss]) -> None:
        """Add one benchmark."""
        held = self._held.setdefault(name, _Held(name, path))
        for outcome in outcomes:
            if isinstance(outcome, Loss):
                held.unreadable += 1
                held.first_problem = held.first_problem or f"{outcome.uid}: {outcome.detail}"
                continue
            files = files_of(outcome)
            if files:
                held.solutions += 1
                self._add_code(name, outcome.uid, "solution", files)
            if outcome.task is not None:
                held.references += 1
                self._add_code(name, outcome.uid, "reference", [("task.py", outcome.task.source)])
                place = self._add_item(name, outcome.uid, "task")
                for digest in references_of(outcome):
                    self._by_reference.setdefault(digest, place)
                for title in names_of(outcome):
                    self._by_name.setdefault(title, place)

    def finish(self) -> None:
        """Nothing more is added. Raises UsageError when a benchmark holds nothing to compare with."""
        for held in self._held.values():
            if not held.solutions and not held.references:
                problem = f"; the first problem is {held.first_problem}" if held.first_problem else ""
                raise UsageError(f"benchmark {held.name}: {held.path}: holds neither a task nor code{problem}")
        sketches = sketch(self._codes, None)
        for place, digest in zip(self._of_code, sketches.digests.tolist()):
            self._by_digest.setdefault((digest[0], digest[1]), place)
        owners: I64 = np.repeat(np.arange(len(sketches)), np.diff(sketches.offsets))
        order = np.argsort(sketches.shingles, kind="stable")
        self._values, begins = np.unique(sketches.shingles[order], return_index=True)
        self._begins: I64 = np.append(begins, len(order))
        self._owners: I64 = owners[order]
        self._sizes = np.diff(sketches.offsets)
        self._codes = []

    def describe(self) -> Iterator[dict[str, Any]]:
        """What each benchmark gave, for the audit."""
        for held in self._held.values():
            yield {"schema": "kengine.benchmark/1", **vars(held)}

    def find(
        self, sample: Sample, digest: tuple[int, int] | None, shingles: U32, section: Decontaminate
    ) -> list[Match]:
        """What a sample matches, what decides first."""
        found: list[Match] = []
        if digest is not None and digest in self._by_digest and len(shingles):
            found.append(self._match("benchmark_copy", "equal code", 1.0, self._by_digest[digest]))
        for reference in references_of(sample):
            if reference in self._by_reference:
                found.append(self._match("benchmark_task", "reference", 1.0, self._by_reference[reference]))
        for name in names_of(sample) if section.names else ():
            if name in self._by_name:
                found.append(self._match("benchmark_task", f"name {name}", 1.0, self._by_name[name]))
        if section.near and len(shingles):
            found.extend(self._near(shingles, section))
        return found[:LISTED]

    def _near(self, shingles: U32, section: Decontaminate) -> list[Match]:
        at = np.minimum(np.searchsorted(self._values, shingles), max(len(self._values) - 1, 0))
        at = at[self._values[at] == shingles] if len(self._values) else at[:0]
        begins, sizes = self._begins[at], self._begins[at + 1] - self._begins[at]
        places = np.repeat(begins - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        shared = np.bincount(self._owners[places], minlength=len(self._sizes))
        some = np.flatnonzero(shared)
        shared, theirs = shared[some], self._sizes[some]
        jaccard = shared / (theirs + len(shingles) - shared)
        shorter = np.minimum(theirs, len(shingles))
        contained = np.where(shorter >= SHORTEST, shared / shorter, 0.0)
        result: list[Match] = []
        for n in np.lexsort((some, -jaccard)).tolist():
            item = self._of_code[some[n]]
            if jaccard[n] >= section.threshold:
                result.append(self._match("benchmark_near", "similarity", float(jaccard[n]), item))
            elif contained[n] >= section.containment:
                result.append(self._match("benchmark_near", "containment", float(contained[n]), item))
            if len(result) == LISTED:
                break
        return result

    def _match(self, reason: str, how: str, score: float, item: int) -> Match:
        benchmark, uid, part = self._items[item]
        return Match(reason, how, score, benchmark, uid, part)

    def _add_item(self, benchmark: str, uid: str, part: str) -> int:
        self._items.append((benchmark, uid, part))
        return len(self._items) - 1

    def _add_code(self, benchmark: str, uid: str, part: str, files: Files) -> None:
        self._of_code.append(self._add_item(benchmark, uid, part))
        self._codes.append(files)


def read_index(section: Decontaminate, base: Path) -> Index:
    """Read every benchmark of a section. Raises UsageError."""
    from kengine.curate.load import open_source
    from kengine.curate.settings import Source

    index = Index()
    for each in section.benchmark:
        name = each.name or PurePath(each.path).name
        index.add(name, each.path, _complete(open_source(Source(each.path, name, each.format, tasks=each.tasks), base)))
    index.finish()
    return index


def _complete(opened: Opened) -> Iterator[Sample | Loss]:
    """What a benchmark holds; code whose task cannot be found counts as well."""
    for outcome in opened.loader.read():
        if isinstance(outcome, Sample):
            uid = f"{opened.source.name}:{outcome.uid or outcome.origin}"
            yield evolve(opened.tasks.find(outcome, opened.loader.format)[0], uid=uid)
        else:
            yield outcome


def references_of(sample: Sample) -> list[tuple[int, int]]:
    """Digests of what a sample asks to compute: its task, or the code in its prompt where it has none."""
    if sample.task is not None:
        found = [digest_reference(sample.task)]
    else:
        from kengine.plugins import dialect
        from kengine.tasks.markdown import read_blocks

        python = dialect.declared().python
        texts = [turn.get("content", "") for turn in sample.prompt if turn.get("role") != "assistant"]
        blocks = [block for text in texts for block in read_blocks(text)[0]]
        found = [digest_text(block.code) for block in blocks if not block.tag or block.tag in python]
    return [digest for digest in found if digest is not None]


def names_of(sample: Sample) -> list[str]:
    """Names by which a sample's task is known: its own, its operator, and its problem within a set."""
    labels, task = sample.labels, sample.task
    given = [str(labels.get("operator", ""))]
    if task is not None:
        given.append(task.name)
        if labels.get("problem") and task.spec.origin:
            given.append(f"{task.spec.origin} level {labels.get('level', '')} problem {labels['problem']}")
    return list(dict.fromkeys(name for name in map(plain_name, given) if name))


def plain_name(name: str) -> str:
    """`level1/19_ReLU.py` -> `relu`; "" for a name that says nothing."""
    name = re.sub(r"\.(?:py|cu|hip)$", "", name.replace("\\", "/").rpartition("/")[2])
    name = re.sub(r"[^a-z0-9]+", "_", re.sub(r"^\d+_+", "", name).lower()).strip("_")
    return "" if len(name) < 3 or name in _GENERIC or _NUMBERED.fullmatch(name) else name
