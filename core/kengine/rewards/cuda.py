"""Rewards of CUDA Agent and CUDA-L1."""

from __future__ import annotations

from math import isfinite
from typing import Union

from kengine.errors import UsageError
from kengine.model import Verdict
from kengine.rewards.outcome import Judged, read, require_number

Compiled = Union[float, Verdict, None]
"""The speed-up over torch.compile, or the verdict of the same candidate that was timed against it."""


def cuda_agent(
    judged: Judged, *, against_compile: Compiled = None, unknown: float | None = None, margin: float = 0.05,
    unclear: float = 0.0, allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of CUDA Agent, four steps:

        -1 wrong;  1 correct;  2 more than 5 % faster than eager;  3 more than 5 % faster than eager and torch.compile

    arXiv 2602.24286. `judged` is timed against eager. against_compile: the speed-up over torch.compile, or the verdict
    of the same candidate reached with Plan(time=True, baseline="compile"). unknown: what a candidate that beats eager
    earns when nothing is known of torch.compile; without it that raises UsageError.
    """
    require_number("margin", margin, 0.0)
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None or not isinstance(judged, Verdict):
        return None
    record = judged.stages.time
    if record is not None and record.baseline == "compile":
        raise UsageError(
            "cuda_agent wants the verdict that was timed against eager first, and the one against torch.compile as "
            "against_compile; this one was timed against torch.compile"
        )
    if not outcome.correct:
        return -1.0
    if outcome.speed <= 1 + margin:
        return 1.0
    if against_compile is None:
        if unknown is None:
            raise UsageError(
                "cuda_agent asks whether the candidate beats torch.compile, and nothing says so: pass against_compile "
                "(a speed-up, or the verdict with Plan(baseline='compile')), or unknown=2 to never give 3"
            )
        require_number("unknown", unknown)
        return unknown
    return 3.0 if _over_compile(against_compile, judged, unclear, allow_self_referenced) > 1 + margin else 2.0


def _over_compile(given: float | Verdict, judged: Verdict, unclear: float, allow_self_referenced: bool) -> float:
    if not isinstance(given, Verdict):
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not (isfinite(given) and given >= 0):
            raise UsageError(f"against_compile: want a speed-up of at least 0 or a Verdict, got {given!r}")
        return float(given)
    record = given.stages.time
    if record is not None and record.baseline != "compile":
        raise UsageError(f"against_compile: this verdict was timed against {record.baseline or 'nothing known'}")
    if given.candidate != judged.candidate:
        raise UsageError("against_compile: this verdict is about another candidate")
    other = read(given, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    return other.speed if other is not None else 0.0


def cuda_l1(judged: Judged, *, unclear: float = 0.0, allow_self_referenced: bool = False) -> float | None:
    """Reward of CUDA-L1, the speed-up alone:

        s * k

    Li et al., arXiv 2507.14111. The paper then standardises it over a group and clips that to 1.5:
    `baselines.standardized(rewards, limit=1.5)`.
    """
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    return None if outcome is None else outcome.settle(outcome.speed)
