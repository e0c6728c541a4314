"""Rewards for Triton that come in parts: AutoTriton's product, and TritonRL's credit for plan and for code."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.errors import UsageError
from kengine.rewards.outcome import Judged, read, require_number


def autotriton(judged: Judged, *, allow_self_referenced: bool = False) -> float | None:
    """Reward 1 when the text is a kernel by the rules and its execution is right, else 0:

        rule * execution,    both 0 or 1

    Li et al., arXiv 2507.05687. rule: no lint rule rejects the candidate and its kernel does the work; execution: right
    on every case. Has no speed term, hence works on emulators.
    """
    outcome = read(judged, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    rule = int(outcome.honest and outcome.compiled)
    return outcome.settle(rule * outcome.correct)


def tritonrl_code(judged: Judged, *, allow_self_referenced: bool = False) -> float | None:
    """Reward of the tokens that are code in TritonRL:

        syntax * func * k

    Woo et al., arXiv 2510.17891 (hierarchical reward decomposition). syntax: a kernel that compiles; func:
    the kernel itself does the work; k: correct. Has no speed term, hence works on emulators.
    """
    outcome = read(judged, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    return outcome.settle(outcome.compiled * outcome.correct)


def tritonrl_plan(judged: Judged, *, unclear: float = 0.0, allow_self_referenced: bool = False) -> float | None:
    """Reward of the tokens that are reasoning in TritonRL:

        syntax * func * s

    The same source as `tritonrl_code`: a plan is as good as the speed-up that it leads to, 0 when the code is wrong.
    """
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    return outcome.settle(outcome.compiled * outcome.speed)


def tritonrl(
    judged: Judged, *, alpha: float = 0.1, unclear: float = 0.0, allow_self_referenced: bool = False
) -> float | None:
    """Both parts in one number, for a trainer that has no credit by token:

        alpha * plan + code

    Weighted as in the paper's loss, where alpha is 0.1. With credit by token use `tritonrl_plan`, `tritonrl_code` and
    `spread`.
    """
    require_number("alpha", alpha)
    code = tritonrl_code(judged, allow_self_referenced=allow_self_referenced)
    plan = tritonrl_plan(judged, unclear=unclear, allow_self_referenced=allow_self_referenced)
    return None if code is None or plan is None else alpha * plan + code


def spread(plan: float, code: float, is_plan: Sequence[bool], *, alpha: float = 0.1) -> list[float]:
    """Advantage of each token: alpha * plan where `is_plan`, code elsewhere.

    plan, code: advantages of one sample, each within its own group (`baselines.group_mean`). is_plan: one flag for
    each token. Raises UsageError for numbers that are not finite.
    """
    for name, value in (("plan", plan), ("code", code), ("alpha", alpha)):
        require_number(name, value)
    if not all(flag in (0, 1) for flag in is_plan):
        raise UsageError("is_plan: want one true or false for each token")
    return [alpha * plan if flag else code for flag in is_plan]
