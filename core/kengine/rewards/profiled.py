"""Rewards that also ask how much of the time is spent in the candidate's own kernels: Dr.Kernel and KernelGYM."""

from __future__ import annotations

from math import isfinite

from kengine.errors import UsageError
from kengine.model import Verdict
from kengine.rewards.outcome import Judged, read, require_number


def coverage(verdict: Verdict, default: float | None = None) -> float:
    """Share of the device time that is spent in the candidate's own kernels, in [0, 1].

    Read from the launch record's detail "coverage". Raises UsageError when there is none and no default, and for
    something that is no share.
    """
    record = verdict.stages.launch
    value = record.details.get("coverage") if record is not None else None
    if value is None:
        if default is None:
            raise UsageError(
                "this reward has a coverage term, and the verdict has no stages.launch.details['coverage']: it was "
                "reached where device time is not profiled. Judge on a device that is, or pass default_coverage"
            )
        value = default
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not (isfinite(value) and 0 <= value <= 1):
        raise UsageError(f"coverage is {value!r}, expected a share between 0 and 1")
    return float(value)


def dr_kernel(
    judged: Judged, *, cap: float = 3.0, default_coverage: float | None = None, unclear: float = 0.0,
    allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of one turn of Dr.Kernel, with its profiling-based term:

        k + k * min(s, 3) + k * PR,    PR = time in generated kernels / time in all kernels

    Liu et al., arXiv 2602.05885. Credit for a turn is the undiscounted sum of this and later turns, its
    advantage leaves itself out of the baseline (TRLOO): `credit.returns(rewards, gamma=1)`, then
    `baselines.by_turn(returns, baselines.leave_one_out)`. Raises UsageError without a coverage, see `coverage`.
    """
    require_number("cap", cap)
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None or not isinstance(judged, Verdict):
        return None
    if not outcome.correct:
        return 0.0
    return outcome.settle(1.0 + min(outcome.speed, cap) + coverage(judged, default_coverage))


def kernelgym(
    judged: Judged, *, correct: float = 0.5, speed: float = 0.5, covered: float = 0.5, cap: float = 3.0,
    default_coverage: float | None = None, unclear: float = 0.0, allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward as the code of KernelGYM, Dr.Kernel's environment, computes it:

        0.5 * k + 0.5 * k * clip(s, 0, 3) + 0.5 * k * coverage

    The same three terms as in the paper with weights of 0.5. Raises UsageError without a coverage, see `coverage`.
    """
    for name, value in (("correct", correct), ("speed", speed), ("covered", covered), ("cap", cap)):
        require_number(name, value)
    outcome = read(judged, speed=speed != 0, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None or not isinstance(judged, Verdict):
        return None
    if not outcome.correct:
        return 0.0
    share = coverage(judged, default_coverage) if covered else 0.0
    return outcome.settle(correct + speed * min(outcome.speed, cap) + covered * share)
