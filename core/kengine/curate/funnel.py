"""How many samples each stage took in, let through, added and lost, with the reason of every loss."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.errors import KengineError


def count_rows(number: int, verb: str = "") -> str:
    """`1 row`, `1,200 rows`; with a verb in the plural, `1 row is`, `2 rows are`, `1 row stands`."""
    if number == 1:
        return "1 row" + (f" {'is' if verb == 'are' else verb + 's'}" if verb else "")
    return f"{number:,} rows" + (f" {verb}" if verb else "")


class Unaccounted(KengineError):
    """A stage let samples vanish without a reason, or made some up; a fault of the stage, not of the data."""

    exit_code = 5


@dataclass
class Step:
    """The counts of one stage. Always: entered + added = left + the sum of lost."""

    stage: str
    entered: int = 0
    added: int = 0
    left: int = 0
    lost: Counter[str] = field(default_factory=Counter)

    @property
    def dropped(self) -> int:
        """All losses together."""
        return sum(self.lost.values())

    def check(self) -> None:
        """Raise Unaccounted unless the counts add up."""
        if self.entered + self.added != self.left + self.dropped:
            raise Unaccounted(
                f"stage {self.stage}: {self.entered} entered and {self.added} were added, but {self.left} left and "
                f"{self.dropped} were lost: {abs(self.entered + self.added - self.left - self.dropped)} unaccounted for"
            )


class Funnel:
    """The steps of a run in order of the stages; adds up, and turns into JSON and back."""

    def __init__(self, steps: Iterable[Step] = ()) -> None:
        self.steps: dict[str, Step] = {step.stage: step for step in steps}

    def __getitem__(self, stage: str) -> Step:
        return self.steps.setdefault(stage, Step(stage))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Funnel) and self.to_json() == other.to_json()

    def record(self, stage: str, entered: int, left: int, lost: Mapping[str, int], adds: bool = False) -> None:
        """Count one outcome or many: what exceeds `entered` was added, which only a stage that `adds` may do.

        Raises Unaccounted for rows that came from nowhere or went nowhere.
        """
        step = self[stage]
        surplus = left + sum(lost.values()) - entered
        if surplus < 0 or (surplus and not adds):
            what = f"{surplus} samples were made up" if surplus > 0 else f"{-surplus} samples vanished without a reason"
            raise Unaccounted(f"stage {stage}: {what}")
        step.entered += entered
        step.left += left
        step.added += surplus
        step.lost.update(lost)

    def merge(self, other: Funnel) -> None:
        """Add the counts of a further part of the same stages' work."""
        for step in other.steps.values():
            self.record(step.stage, step.entered, step.left, step.lost, step.added > 0)

    def check(self) -> None:
        """Raise Unaccounted unless every step adds up and each begins with what the one before it let through."""
        before: Step | None = None
        for step in self.steps.values():
            step.check()
            if before is not None and before.left != step.entered:
                raise Unaccounted(
                    f"stage {before.stage} let {before.left} samples through, {step.stage} took in {step.entered}"
                )
            before = step

    def to_json(self) -> list[dict[str, Any]]:
        """One object a stage: stage, entered, added, left, lost {reason: count}, most frequent reason first."""
        return [
            {
                "stage": s.stage,
                "entered": s.entered,
                "added": s.added,
                "left": s.left,
                "lost": dict(sorted(s.lost.items(), key=lambda item: (-item[1], item[0]))),
            }
            for s in self.steps.values()
        ]

    @classmethod
    def from_json(cls, value: Iterable[Mapping[str, Any]]) -> Funnel:
        """Read what `to_json` gave."""
        return cls(Step(s["stage"], s["entered"], s["added"], s["left"], Counter(s["lost"])) for s in value)


class Ledger:
    """Counts that are known before the rows they belong to are committed: kept by position until these are.

    A stage may work ahead of what is committed; after a kill that part is done again, and must not be counted twice.
    """

    def __init__(self, funnel: Funnel) -> None:
        self.funnel = funnel
        self._ahead: dict[str, deque[tuple[int, int, int, Counter[str], bool]]] = {s: deque() for s in funnel.steps}

    def note(self, stage: str, position: int, entered: int, left: int, lost: Counter[str], adds: bool) -> None:
        """One result of a stage for the input at `position`; positions of one stage come in order."""
        self._ahead[stage].append((position, entered, left, lost, adds))

    def settle(self, position: int) -> Funnel:
        """Count everything up to a position and give the funnel. Raises Unaccounted."""
        for stage, ahead in self._ahead.items():
            step = self.funnel[stage]
            while ahead and ahead[0][0] <= position:
                _, entered, left, lost, adds = ahead.popleft()
                if entered == left and not lost:
                    step.entered += entered
                    step.left += left
                else:
                    self.funnel.record(stage, entered, left, lost, adds)
        return self.funnel
