"""The SOL score: where a time lies between a baseline and the speed of light of the device."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Union

from kengine.errors import UsageError
from kengine.model import CaseTiming, Verdict
from kengine.rewards.outcome import Judged, read, require_number

Nanoseconds = Union[float, Mapping[str, float]]
"""One time for every case, or one for each case by its name."""


def score(candidate_ns: float, baseline_ns: float, sol_ns: float) -> float:
    """SOL score of one time:

        1 / (1 + (T_k - T_SOL) / (T_b - T_SOL))

    SOL-ExecBench, arXiv 2603.19173: 0.5 at the baseline's time, 1 at the least time that the device allows, towards 0
    for what is far slower; a time below the bound counts as 1. Raises UsageError for times that are not positive and
    for a baseline that does not lie above the bound.
    """
    for name, value in (("candidate_ns", candidate_ns), ("baseline_ns", baseline_ns), ("sol_ns", sol_ns)):
        require_number(name, value)
        if value <= 0:
            raise UsageError(f"{name}: want a time above 0 ns, got {value!r}")
    if baseline_ns <= sol_ns:
        raise UsageError(
            f"baseline_ns: {baseline_ns:g} ns is not slower than the bound of {sol_ns:g} ns; the bound is not one"
        )
    return 1 / (1 + max(candidate_ns - sol_ns, 0.0) / (baseline_ns - sol_ns))


def sol_score(
    judged: Judged, *, sol_ns: Nanoseconds, baseline_ns: Nanoseconds | None = None, unclear: float = 0.0,
    allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward with the mean SOL score over the timed cases, 0 unless correct:

        1 / (1 + (T_k - T_SOL) / (T_b - T_SOL))

    Source as for `score`.

    sol_ns: least time on this device, from a roofline. baseline_ns: the scoring baseline, else the median that was
    measured. unclear: the most that a case with an unclear timing earns. Raises UsageError for a case without a time.
    """
    require_number("unclear", unclear)
    outcome = read(judged, speed=True, allow_self_referenced=allow_self_referenced)
    if outcome is None or not isinstance(judged, Verdict):
        return None
    if not outcome.correct:
        return 0.0
    record = judged.stages.time
    if record is None or not record.cases:
        raise UsageError("sol_score needs times of single cases, and this verdict has none: use Plan(time=True)")
    scores = [_case(case, sol_ns, baseline_ns, unclear) for case in record.cases]
    return outcome.settle(sum(scores) / len(scores))


def _case(case: CaseTiming, sol_ns: Nanoseconds, baseline_ns: Nanoseconds | None, unclear: float) -> float:
    bound = _time("sol_ns", sol_ns, case.case)
    baseline = median(case.baseline_ns) if baseline_ns is None else _time("baseline_ns", baseline_ns, case.case)
    value = score(median(case.candidate_ns), baseline, bound)
    return min(value, unclear) if case.label == "unclear" else value


def _time(name: str, given: Nanoseconds, case: str) -> float:
    if not isinstance(given, Mapping):
        return given
    if case not in given:
        raise UsageError(f"{name}: no time for case {case!r}; there are {', '.join(map(repr, given)) or 'none'}")
    return given[case]
