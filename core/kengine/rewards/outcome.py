"""What a reward needs of a verdict: compiled, ran, correct, speed-up; and which verdicts have no reward at all."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Union

from kengine.errors import InfraError, KengineError, UsageError
from kengine.model import IntegrityRecord, Status, Verdict

Judged = Union[Verdict, InfraError, None]
"""What a trainer holds for one sample: a verdict, or what stands in its place when the machine failed."""

_NOT_COMPILED = frozenset({Status.lint_rejected, Status.compile_failed})
_NOT_RAN = frozenset({Status.launch_failed, Status.crashed, Status.timed_out})
_RIGHT = frozenset({Status.passed, Status.too_slow})
_DISHONEST = frozenset({Status.sham, Status.tampered})
_BEFORE_COMPILED = frozenset({"lint", "compile"})


@dataclass(frozen=True)
class Outcome:
    """One judged candidate in the terms of reward formulas.

    compiled, ran, correct: 0 or 1, what earns credit: all three are 0 for a candidate that is not honest.
    honest: no integrity check found the answer to come from somewhere else. A `nondeterministic` candidate is honest
    and wrong. speedup: baseline over candidate; 0 for what is not correct, None when it was not asked for or not
    timed. clear: the timing tells faster from slower, or nothing was timed.
    """

    status: Status
    compiled: int
    ran: int
    correct: int
    honest: bool
    speedup: float | None
    clear: bool

    @property
    def speed(self) -> float:
        """The speed-up, 0.0 without one."""
        return self.speedup or 0.0

    def settle(self, value: float) -> float:
        """The value of a formula as the reward: at most 0 for a candidate that is not honest."""
        return float(value) if self.honest else min(float(value), 0.0)


def read(
    judged: Judged, *, speed: bool = False, unclear: float = 0.0, allow_self_referenced: bool = False
) -> Outcome | None:
    """Read a verdict; None when there is nothing to reward or punish.

    That is the case for the machine's faults (None or an InfraError in the verdict's place) and for `unsupported`,
    which says nothing of the candidate. speed: the formula has a speed term. unclear: the most that a speed-up counts
    for while its timing is `unclear`; 0 gives no speed credit, 1 the credit of the baseline.

    Raises UsageError for a self-referenced verdict, whose candidate's author wrote the reference too, unless that is
    allowed; for a verdict that only compiled; with `speed`, for an emulated target and for a verdict without timing,
    whatever the candidate did, so that a wrong set-up shows at the first sample; and for a speed-up that is no
    measurement (negative, NaN, infinite).
    """
    if judged is None or isinstance(judged, InfraError):
        return None
    if not isinstance(judged, Verdict):
        raise _no_verdict(judged)
    status = judged.status
    if status is Status.unsupported:
        return None
    if judged.self_referenced and not allow_self_referenced:
        raise UsageError(
            "this verdict is self-referenced: reference and candidate came in one file, so a wrong reference would "
            "earn a reward. Judge against a task of your own, or pass allow_self_referenced=True (at a terminal "
            "--allow-self-referenced)"
        )
    stages = judged.stages
    honest = status not in _DISHONEST and _held(stages.integrity)
    right = status in _RIGHT and honest
    if right and (stages.compare is None or not stages.compare.comparisons):
        raise UsageError(
            f"this verdict is {status} without a comparison: nothing was launched (check = false), so there is nothing "
            "to reward. Judge with Plan(check=True)"
        )
    correct = right and stages.compare is not None and all(c.ok for c in stages.compare.comparisons)
    compiled = honest and status not in _NOT_COMPILED and judged.stage not in _BEFORE_COMPILED
    speedup, clear = _speed(judged, correct, unclear) if speed else (None, True)
    return Outcome(
        status, int(compiled), int(compiled and status not in _NOT_RAN), int(correct), honest, speedup, clear
    )


def require_number(name: str, value: float, low: float | None = None) -> None:
    """Raise UsageError for a parameter that is not a finite number, or is below `low`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise UsageError(f"{name}: want a finite number, got {value!r}")
    if low is not None and value < low:
        raise UsageError(f"{name}: want at least {low:g}, got {value!r}")


def _held(record: IntegrityRecord | None) -> bool:
    # A failed repeat means wrong now and then, not that something else computes the answer.
    return record is None or not any(c.failed and c.name != "repeat" for c in record.checks)


def _speed(verdict: Verdict, correct: bool, unclear: float) -> tuple[float, bool]:
    if verdict.emulated:
        raise UsageError(
            f"this reward has a speed term, and {verdict.target} is an emulator: it never times. Use a reward without "
            "speed (kengine.rewards.correctness, staged with speed=0, autotriton), or judge on a device"
        )
    speedup = verdict.speedup
    if speedup is None and (correct or verdict.plan.get("time") is False):
        raise UsageError(
            "this reward has a speed term, and the verdict was reached without timing: use Plan(time=True)"
        )
    if speedup is not None and not (isfinite(speedup) and speedup >= 0):
        raise UsageError(f"speedup is {speedup!r}, expected a finite number of at least 0: this is no measurement")
    if not correct or speedup is None:
        return 0.0, True
    record = verdict.stages.time
    if record is not None and record.label == "unclear":
        return min(speedup, unclear), False
    return float(speedup), True


def _no_verdict(judged: object) -> UsageError:
    if isinstance(judged, KengineError):
        return UsageError(
            f"want a Verdict, an InfraError or None, got {type(judged).__name__}: {judged}. What is broken here is not "
            "the candidate: mend it, or leave the sample out"
        )
    return UsageError(f"want a Verdict, an InfraError or None, got {type(judged).__name__}")
