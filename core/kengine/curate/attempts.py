"""How often a task was attempted and how often that passed, losses included: what a pass rate is worked out from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kengine.curate.record import Judgement, Loss, Sample
from kengine.model import Status

_FAILED_UNJUDGED = frozenset({"no_code", "truncated", "too_large", "binary"})
"""Losses of answers that never became a candidate; a model that gave one has failed."""

_REFUSED_RIGHT = frozenset({"shape_specialised"})
"""Losses of candidates whose last verdict may have been `passed`."""

_NOT_COMPILED = frozenset({Status.lint_rejected, Status.compile_failed, Status.sham, Status.tampered})
_RIGHT = frozenset({Status.passed, Status.too_slow})


@dataclass
class Count:
    """Attempts at one task on one backend: n in all, and how many compiled, were right, and passed everything.

    As in `kengine.rewards.metrics`: a sham or tampered candidate counts as not compiled, one that is right and
    `too_slow` as right. A shape-specialised one compiled and is wrong.
    """

    n: int = 0
    compiled: int = 0
    right: int = 0
    passed: int = 0

    @property
    def rate(self) -> float:
        """The share that passed: the unbiased estimate that one attempt passes (`unbiased_at_k` for k = 1)."""
        return self.passed / self.n


Key = tuple[str, str]
"""A task, by the group of its samples, and a backend."""


class Attempts:
    """Counts by task and backend. Memory grows with the tasks, not with the samples.

    What says nothing of the candidate is no attempt: samples that were never judged, `unsupported` ones, and those that
    were lost because a task or a target was missing. Variants that [augment] made of a sample are none either. An
    answer without code, or cut before its code ended, is a failed attempt if its task was judged on its backend; where
    it does not say which backend it was meant for, on the task's only one.
    """

    def __init__(self) -> None:
        self.counts: dict[Key, Count] = {}
        self._unjudged: dict[Key, int] = {}

    @classmethod
    def of(cls, samples: Iterable[Sample], losses: Iterable[Loss]) -> Attempts:
        """Everything that is left, and everything that was lost."""
        made = cls()
        for sample in samples:
            made.add(sample)
        for loss in losses:
            made.add_loss(loss)
        made.settle()
        return made

    def add(self, sample: Sample) -> None:
        """One sample that is left."""
        if sample.judgements and "variant" not in sample.labels:
            self._count((sample.group, sample.backend), sample.judgements, "")

    def add_loss(self, loss: Loss) -> None:
        """One that was lost, at any stage."""
        key = (loss.group, str(loss.facets.get("backend", "")))
        if loss.judgements:
            self._count(key, loss.judgements, loss.reason)
        elif loss.reason in _FAILED_UNJUDGED and loss.group:
            self._unjudged[key] = self._unjudged.get(key, 0) + 1

    def settle(self) -> None:
        """Everything was added: count answers without a candidate for the tasks that were judged."""
        backends: dict[str, list[str]] = {}
        for group, backend in self.counts:
            backends.setdefault(group, []).append(backend)
        for (group, backend), number in self._unjudged.items():
            known = backends.get(group, [])
            chosen = backend if backend in known else known[0] if not backend and len(known) == 1 else None
            if chosen is not None:
                self.counts[group, chosen].n += number
        self._unjudged.clear()

    def find(self, sample: Sample) -> Count | None:
        """The count of a sample's task on its backend."""
        return self.counts.get((sample.group, sample.backend))

    def __iter__(self) -> Iterator[tuple[Key, Count]]:
        return iter(self.counts.items())

    def _count(self, key: Key, judgements: tuple[Judgement, ...], reason: str) -> None:
        if any(j.status == Status.unsupported for j in judgements):
            return
        count = self.counts.setdefault(key, Count())
        honest = reason not in _REFUSED_RIGHT
        count.n += 1
        count.compiled += all(j.status not in _NOT_COMPILED and j.stage not in ("lint", "compile") for j in judgements)
        count.right += honest and all(j.status in _RIGHT for j in judgements)
        count.passed += honest and all(j.passed for j in judgements)
