"""All figures of the report, from one pass over what is left and two over what was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.curate.attempts import Attempts, Count
from kengine.curate.difficulty import WORDS, Difficulty, grade
from kengine.curate.funnel import Funnel
from kengine.curate.record import Judgement, Loss, Sample
from kengine.curate.report.distribution import Distribution
from kengine.curate.usage import Bill
from kengine.curate.values import to_text
from kengine.rewards.metrics import unbiased_at_k

SCHEMA = "kengine.funnel-report/1"
KS = (1, 2, 4, 8, 16, 32, 64, 128)
FACETS = ("operator", "category", "level", "difficulty", "backend", "source")
FIGURES: Mapping[str, str] = {
    "latency_ns": "ns", "speedup": "", "registers": "", "shared_bytes": "B", "spills": "B", "occupancy": "",
    "memory_bytes": "B",
}  # fmt: skip
"""What distributions are of, and their units; a speed-up is a ratio, occupancy a share."""


@dataclass
class _Row:
    kept: int = 0
    added: int = 0
    lost: Counter[str] = field(default_factory=Counter)


class Figures:
    """Gathers; `to_json` gives what report.json holds and the page shows. Memory grows with tasks and operators."""

    def __init__(self, section: Difficulty | None = None) -> None:
        self._section = section or Difficulty()
        self._attempts = Attempts()
        self._known: dict[str, dict[str, str]] = {}
        self._by: dict[str, dict[str, _Row]] = {name: {} for name in FACETS}
        self._spread: dict[tuple[str, str], Distribution] = {}
        self._clusters = Distribution()
        self._duplicates = 0
        self._targets: Counter[str] = Counter()
        self._versions: Counter[str] = Counter()
        self._bill = Bill()
        self._rows = 0
        self._weight = 0.0

    def add(self, sample: Sample) -> None:
        """One sample that is left."""
        self._rows += 1
        self._weight += sample.weight
        self._bill.add(sample.usage())
        self._attempts.add(sample)
        facets = self._learn(sample.group, sample.facets())
        for name in FACETS:
            row = self._by[name].setdefault(facets[name], _Row())
            row.kept += 1
            row.added += "variant" in sample.labels
        size = sample.labels.get("cluster_size")
        if type(size) is int:
            self._clusters.add(size)
            self._duplicates += size - 1
        for judgement in sample.judgements:
            self._judgement(judgement)

    def learn(self, loss: Loss) -> None:
        """One that was lost, the first time: what is known of its task, and of how often that was attempted."""
        self._attempts.add_loss(loss)
        self._bill.add(loss.usage)
        self._learn(loss.group, loss.facets)

    def settle(self) -> None:
        """All samples and losses have been seen once."""
        self._attempts.settle()

    def lose(self, loss: Loss) -> None:
        """One that was lost, the second time: count it under everything that is known of its task."""
        facets = self._learn(loss.group, loss.facets)
        count = self._attempts.counts.get((loss.group, facets["backend"]))
        if not facets["difficulty"]:
            measured = count.rate if count is not None and count.n >= self._section.min_attempts else None
            level = facets["level"]
            facets["difficulty"] = grade(measured, int(level) if level.isdigit() else None, None, self._section)
        for name in FACETS:
            self._by[name].setdefault(facets[name], _Row()).lost[f"{loss.stage} {loss.reason}"] += 1

    def _learn(self, group: str, facets: Mapping[str, Any]) -> dict[str, str]:
        """What a sample says of itself, completed by what others of its task said."""
        own = {name: to_text(facets.get(name)) for name in FACETS}
        if not own["operator"]:
            own["operator"] = to_text(facets.get("task"))
        if group:
            known = self._known.setdefault(group, {})
            for name in ("operator", "category", "level"):
                if own[name]:
                    known.setdefault(name, own[name])
                own[name] = known.get(name, "")
        return own

    def _judgement(self, judgement: Judgement) -> None:
        self._targets[judgement.target + (" (emulator)" if judgement.emulated else "")] += 1
        self._versions["; ".join(f"{k} {v}" for k, v in judgement.versions.items())] += 1
        values = [("latency_ns", judgement.target, judgement.latency_ns),
                  ("speedup", judgement.target, judgement.speedup),
                  ("memory_bytes", judgement.target, judgement.memory_bytes)]  # fmt: skip
        for kernel in judgement.kernels:
            target = str(kernel.details.get("target") or judgement.target)
            values += [(name, target, getattr(kernel, name))
                       for name in ("registers", "shared_bytes", "spills", "occupancy")]  # fmt: skip
        for name, target, value in values:
            if value is not None:
                self._spread.setdefault((name, target), Distribution()).add(value)

    def to_json(self, funnel: Funnel, title: str = "") -> dict[str, Any]:
        """The whole report as JSON."""
        counts = [count for _, count in self._attempts]
        return {
            "schema": SCHEMA,
            "title": title,
            "rows": self._rows,
            "weight": round(self._weight, 3),
            "steps": funnel.to_json(),
            "sampling": self._bill.to_json(),
            "by": {name: _table(name, rows) for name, rows in self._by.items()},
            "at_k": [row for scope, of in self._scopes() for row in _at_k(scope, of)],
            "pass_rates": _rates(counts),
            "distributions": [
                {"figure": name, "unit": FIGURES[name], "target": target, **spread.to_json()}
                for name in FIGURES for (of, target), spread in sorted(self._spread.items()) if of == name
            ],
            "clusters": {"duplicates": self._duplicates, **self._clusters.to_json()},
            "targets": dict(self._targets.most_common()),
            "toolchains": dict(self._versions.most_common(10)),
        }  # fmt: skip

    def _scopes(self) -> list[tuple[str, list[Count]]]:
        backends: dict[str, list[Count]] = {}
        for (_, backend), count in self._attempts:
            backends.setdefault(backend, []).append(count)
        every = [("", [c for counts in backends.values() for c in counts])] if len(backends) > 1 else []
        return [*every, *sorted(backends.items())]


def gather(corpus: Iterable[Sample], losses: Iterable[Loss], section: Difficulty | None = None) -> Figures:
    """Everything that is left and was lost; `losses` are iterated twice."""
    figures = Figures(section)
    for sample in corpus:
        figures.add(sample)
    for loss in losses:
        figures.learn(loss)
    figures.settle()
    for loss in losses:
        figures.lose(loss)
    return figures


def _table(name: str, rows: Mapping[str, _Row]) -> list[dict[str, Any]]:
    """Most samples first, or from easy to hard. taken: kept and lost ones without those that were added on the way."""
    table = [
        {"value": value, "taken": row.kept - row.added + sum(row.lost.values()), "added": row.added, "kept": row.kept,
         "lost": dict(sorted(row.lost.items(), key=lambda item: (-item[1], item[0])))}
        for value, row in rows.items()
    ]  # fmt: skip
    if name in ("level", "difficulty"):
        order = {word: n for n, word in enumerate(WORDS)}
        return sorted(table, key=lambda row: (order.get(row["value"], len(order)), not row["value"], row["value"]))
    return sorted(table, key=lambda row: (-row["taken"], row["value"]))


def _at_k(backend: str, counts: list[Count]) -> list[dict[str, Any]]:
    """Means over the tasks with at least k attempts, which are fewer for a larger k."""
    rows = []
    for k in KS:
        enough = [c for c in counts if c.n >= k]
        if not enough:
            break
        row: dict[str, Any] = {"backend": backend, "k": k, "tasks": len(enough)}
        for name in ("compiled", "right", "passed"):
            row[name] = sum(unbiased_at_k(c.n, getattr(c, name), k) for c in enough) / len(enough)
        rows.append(row)
    return rows


def _rates(counts: list[Count]) -> list[dict[str, Any]]:
    """How many tasks never passed, passed in at most a quarter of their attempts, ..., and always did."""
    names = ("never", "up to 25 %", "up to 50 %", "up to 75 %", "below 100 %", "always")
    found = Counter(0 if not c.passed else 5 if c.passed == c.n else -(-4 * c.passed // c.n) for c in counts)
    return [{"pass_rate": name, "tasks": found[n]} for n, name in enumerate(names)]
