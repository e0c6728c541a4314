"""What a reward needs of a verdict: compiled, correct, speed-up; and which verdicts have no reward at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Union

from kengine.errors import InfraError, UsageError
from kengine.model import Status, Verdict

Judged = Union[Verdict, InfraError, None]
"""What a trainer holds for one sample: a verdict, or what stands in its place when the machine failed."""

_NOT_COMPILED = frozenset({Status.lint_rejected, Status.compile_failed})
_DISHONEST = frozenset({Status.sham, Status.tampered})


@dataclass(frozen=True)
class Outcome:
    """One judged candidate in the terms of reward formulas.

    compiled, correct: 0 or 1. honest: no integrity check failed. speedup: baseline over candidate, None when it was
    not timed; it is 1 at most while the timing is `unclear`, so that noise earns nothing.
    """

    status: Status
    compiled: int
    correct: int
    honest: bool
    speedup: float | None
    emulated: bool
    target: str

    def speed(self) -> float:
        """The speed-up that a reward may use, 0 for a candidate that is not correct.

        Raises UsageError when a correct candidate has none: an emulator cannot say, or timing was not asked for.
        """
        if not self.correct:
            return 0.0
        if self.speedup is not None:
            return self.speedup
        if self.emulated:
            raise UsageError(
                f"this reward has a speed term, and {self.target} is an emulator: it never times. "
                "Use a reward without speed (kengine.rewards.correctness), or judge on a device"
            )
        raise UsageError("this reward has a speed term, and the verdict was reached without timing: use Plan(time=True)")


def read(judged: Judged, allow_self_referenced: bool = False) -> Outcome | None:
    """Read a verdict; None when there is nothing to reward or punish.

    That is the case for the machine's faults (None or an InfraError in the verdict's place) and for `unsupported`,
    which says nothing of the candidate. Raises UsageError for a self-referenced verdict, whose candidate's author wrote
    the reference too, unless that is allowed; and for anything else that is not a verdict.
    """
    if judged is None or isinstance(judged, InfraError):
        return None
    if not isinstance(judged, Verdict):
        raise UsageError(f"want a Verdict, an InfraError or None, got {type(judged).__name__}")
    if judged.status is Status.unsupported:
        return None
    if judged.self_referenced and not allow_self_referenced:
        raise UsageError(
            "this verdict is self-referenced: reference and candidate came in one file, so a wrong reference would earn "
            "a reward. Judge against a task of your own, or pass allow_self_referenced=True"
        )
    record = judged.stages.time
    speedup = judged.speedup
    if speedup is not None and record is not None and record.label == "unclear":
        speedup = min(speedup, 1.0)
    return Outcome(
        status=judged.status,
        compiled=int(judged.status not in _NOT_COMPILED),
        correct=int(judged.status in (Status.passed, Status.too_slow)),
        honest=judged.status not in _DISHONEST,
        speedup=speedup,
        emulated=judged.emulated,
        target=str(judged.target),
    )
