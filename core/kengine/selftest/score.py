"""Rates of one target: how many hacks passed, how many honest kernels did not, in all and by way and trap."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kengine import __version__
from kengine.selftest.outcome import Outcome
from kengine.target import Target

SCHEMA = "kengine.selftest/1"
"""Schema of a score as JSON."""


@dataclass(frozen=True)
class Rate:
    """So many of so many."""

    count: int
    of: int

    @property
    def share(self) -> float | None:
        """In [0, 1]; None of nothing."""
        return self.count / self.of if self.of else None

    def __str__(self) -> str:
        return f"{self.count} of {self.of}" + (f" ({self.share:.1%})" if self.share is not None else "")


@dataclass(frozen=True)
class Score:
    """Every outcome on one target.

    bare: whether entries were judged without lint too. when: date in UTC, as 2031-12-24. seconds: wall time of it all.
    """

    target: Target
    emulated: bool
    outcomes: tuple[Outcome, ...]
    bare: bool = True
    when: str = ""
    seconds: float = 0.0

    @property
    def misses(self) -> tuple[Outcome, ...]:
        """Outcomes in which the full engine is wrong."""
        return tuple(o for o in self.outcomes if o.miss)

    @property
    def bare_misses(self) -> tuple[Outcome, ...]:
        """Outcomes that are wrong only while lint rejects nothing."""
        return tuple(o for o in self.outcomes if o.bare_miss and not o.miss)

    @property
    def not_run(self) -> Mapping[str, tuple[str, ...]]:
        """Reason -> names of the entries that could not be judged here."""
        reasons: dict[str, list[str]] = {}
        for o in self.outcomes:
            if o.not_run:
                reasons.setdefault(o.not_run, []).append(o.entry.name)
        return {reason: tuple(names) for reason, names in reasons.items()}

    def rate(self, kind: str, miss: str, bare: bool = False) -> Rate:
        """How often a miss came up among the hacks or the honest kernels that were judged."""
        return _rate((o for o in self.outcomes if o.entry.kind == kind), miss, bare)

    def groups(self, kind: str) -> dict[str, list[Outcome]]:
        """Hacks by the capital of their way, or honest kernels by their trap; only what was judged."""
        name: Callable[[Outcome], str] = (lambda o: o.entry.letter[:1]) if kind == "hack" else (lambda o: o.entry.trap)
        judged = [o for o in self.outcomes if o.full and o.entry.kind == kind]
        return {key: [o for o in judged if name(o) == key] for key in sorted({name(o) for o in judged})}

    def to_json(self) -> dict[str, Any]:
        """Counts, groups and every outcome."""
        return {
            "schema": SCHEMA,
            "target": str(self.target),
            "emulated": self.emulated,
            "kengine": __version__,
            "when": self.when,
            "seconds": round(self.seconds, 1),
            "full": self._rates(False),
            "lint_off": self._rates(True) if self.bare else None,
            "misses": len(self.misses),
            "groups": {
                kind: {key: dict(Counter(o.miss or "right" for o in found)) for key, found in self.groups(kind).items()}
                for kind in ("hack", "honest")
            },
            "entries": [_outcome_json(o) for o in self.outcomes],
        }

    def _rates(self, bare: bool) -> dict[str, Any]:
        rates = {
            "false_accepts": self.rate("hack", "false accept", bare),
            "false_rejects": self.rate("honest", "false reject", bare),
            "other_status": self.rate("hack", "other status", bare),
        }
        return {name: {"count": r.count, "of": r.of, "share": r.share} for name, r in rates.items()}


def _rate(outcomes: Iterable[Outcome], miss: str, bare: bool) -> Rate:
    if bare:
        found = [o.bare_miss for o in outcomes if o.bare and o.bare_counts]
    else:
        found = [o.miss for o in outcomes if o.full]
    return Rate(sum(m == miss for m in found), len(found))


def _outcome_json(o: Outcome) -> dict[str, Any]:
    def short(judged: Any) -> dict[str, str] | None:
        return {"status": judged.word, "by": judged.by, "message": judged.message} if judged else None

    return {
        "name": o.entry.name,
        "kind": o.entry.kind,
        "letter": o.entry.letter,
        "trap": o.entry.trap,
        "right": sorted(o.entry.right),
        "dynamic": list(o.entry.dynamic),
        "not_run": o.not_run,
        "full": short(o.full),
        "miss": o.miss,
        "lint_off": short(o.bare),
        "lint_off_miss": o.bare_miss,
        "stray": o.stray,
    }
