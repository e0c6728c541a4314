"""Rewards of KernelBench and of what was trained on it: fast_p, Kevin, kernelbench-tinker."""

from __future__ import annotations

from kengine.rewards.outcome import Judged, read, require_number


def fast_p(
    judged: Judged, *, p: float = 1.0, unclear: float = 0.0, allow_self_referenced: bool = False
) -> float | None:
    """Reward 1 for a correct candidate that is more than p times as fast as the baseline, else 0:

        1[k and s > p]

    The summand of KernelBench's metric (Ouyang et al., arXiv 2502.10517, section 3.3); its mean over tasks is
    `metrics.fast_p`. The comparison is strict. p=0 asks for correctness alone and works on emulators.
    """
    require_number("p", p, 0.0)
    outcome = read(judged, speed=p > 0, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    return outcome.settle(float(outcome.correct and (p == 0 or outcome.speed > p)))


def kevin(
    judged: Judged, *, correct: float = 0.3, unclear: float = 0.0, allow_self_referenced: bool = False
) -> float | None:
    """Reward of one turn of Kevin-32B:

        0.3 * k + s * k

    Baronio et al., arXiv 2507.11948: a correct kernel has 0.3 and its speed-up over the reference; a kernel
    that does not compile, is wrong or falls back to the framework has 0. Credit for a turn is the sum of this and later
    turns with gamma 0.4: `credit.returns(rewards, gamma=0.4)`.
    """
    require_number("correct", correct)
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    return outcome.settle(correct * outcome.correct + outcome.speed)


def kernelbench_tinker(
    judged: Judged, *, correct: float = 0.3, speed: float = 1.0, cap: float = 10.0, unclear: float = 0.0,
    allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of kernelbench-tinker, the tinker recipe for KernelBench:

        correct * k + speed * min(s, cap) * k

    Defaults of its RewardConfig (training/reward.py): correctness_weight 0.3, speed_weight 1, speed_max_reward 10. A
    hit of its static checker gives 0; here that is `lint_rejected`.
    """
    for name, value in (("correct", correct), ("speed", speed), ("cap", cap)):
        require_number(name, value)
    outcome = read(judged, speed=speed != 0, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    return outcome.settle(correct * outcome.correct + speed * min(outcome.speed, cap))
