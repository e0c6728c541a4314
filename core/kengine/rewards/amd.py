"""Rewards of AMD's kernel models: AMDKernelVault for Triton, and the three modes of its HIP trainer."""

from __future__ import annotations

from math import log1p, log2

from kengine.errors import UsageError
from kengine.rewards.outcome import Judged, read, require_number

COPY, LOW, HIGH = 0.08, 0.10, 0.20
"""Distances to the original below which a candidate is a copy, has no novelty, and above which it is all new."""
COPY_REWARD = -0.2


def amd_kernel_vault(
    judged: Judged, *, compiled: float = 0.4, correct: float = 1.0, speed: float = 0.375, cap: float = 1.5,
    unclear: float = 0.0, allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of one turn of AMDKernelVault's Triton model:

        0.4 * c + 1.0 * k + min(0.375 * log2(s)^2, 1.5) * [k and s >= 1]

    arXiv 2609.12471; range 0 to 2.9, the cap is reached at s = 4. Three turns with gamma 0.6, not normalised, and the
    group's mean without its deviation: `credit.returns(rewards, gamma=0.6)[0]`, then `baselines.group_mean`.
    """
    for name, value in (("compiled", compiled), ("correct", correct), ("speed", speed), ("cap", cap)):
        require_number(name, value)
    outcome = read(judged, speed=speed != 0, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    gained = min(speed * log2(outcome.speed) ** 2, cap) if outcome.speed >= 1 else 0.0
    return outcome.settle(compiled * outcome.compiled + correct * outcome.correct + gained)


def novelty(distance: float, *, low: float = LOW, high: float = HIGH) -> float:
    """How new a candidate is, in [0, 1]: 0 up to a distance of `low`, 1 from `high` on, linear between them."""
    return min(max((distance - low) / (high - low), 0.0), 1.0)


def amd_hip(
    judged: Judged, *, distance: float = 1.0, correct: float = 0.3, cap: float = 10.0, bonus: float = 0.3,
    threshold: float = 1.1, copy_reward: float = 0.0, unclear: float = 0.0, allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of AMD's HIP trainer in its default mode, `correct_speedup_copy_penalty`:

        0 unless k;  copy_reward for a near copy;  else 0.3 + min(s, 10) + 0.3 * [s > 1.1]

    Source: reward/README.md and reward_batch.py of AMD's HIP kernel trainer. distance: of the candidate to the kernel
    that it was asked to improve, by `similarity.dtw_distance`, in [0, 1]; 1 when the task gave none. Below 0.08 it is
    a copy.
    """
    _check(distance, correct=correct, cap=cap, bonus=bonus, threshold=threshold, copy_reward=copy_reward)
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    if not outcome.correct:
        return 0.0
    if distance < COPY:
        return copy_reward
    return correct + min(outcome.speed, cap) + (bonus if outcome.speed > threshold else 0.0)


def amd_hip_novelty(
    judged: Judged, *, distance: float = 1.0, correct: float = 0.3, speed: float = 0.5, new: float = 0.5,
    unclear: float = 1.0, allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of AMD's HIP trainer in the mode `soft_clip_novelty`:

        -0.9 not compiled, -0.7 failed to run, -0.3 wrong;
        else 0.3 + 0.5 * clip(s - 1, -1, 9) + 0.5 * (novelty - 0.5), at most -0.2 for a near copy

    Source and `distance` as for `amd_hip`. The speed term is 0 at the speed of the baseline and negative below it; an
    unclear timing counts as the baseline at most, hence earns nothing.
    """
    _check(distance, correct=correct, speed=speed, new=new)
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    if not outcome.correct:
        return -0.3 if outcome.ran else -0.7 if outcome.compiled else -0.9
    value = correct + speed * min(max(outcome.speed - 1, -1.0), 9.0) + new * (novelty(distance) - 0.5)
    return min(value, COPY_REWARD) if distance < COPY else value


def amd_hip_legacy(
    judged: Judged, *, distance: float = 1.0, full: float = 100.0, new: float = 0.25, unclear: float = 0.0,
    allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward of AMD's HIP trainer in its first mode, kept for comparison:

        -0.9 not compiled, -0.5 failed to run, 0 wrong, -0.2 for a near copy;
        else 0.5 + min(log1p(s) / log1p(100), 1) + 0.25 * (novelty - 0.5)

    Source and `distance` as for `amd_hip`.
    """
    _check(distance, full=full, new=new)
    if full <= 0:
        raise UsageError(f"full: want a speed-up above 0, got {full!r}")
    outcome = read(judged, speed=True, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    if not outcome.correct:
        return 0.0 if outcome.ran else -0.5 if outcome.compiled else -0.9
    if distance < COPY:
        return COPY_REWARD
    return 0.5 + min(log1p(outcome.speed) / log1p(full), 1.0) + new * (novelty(distance) - 0.5)


def _check(distance: float, **parameters: float) -> None:
    for name, value in parameters.items():
        require_number(name, value)
    require_number("distance", distance, 0.0)
    if distance > 1:
        raise UsageError(f"distance: want a normalised distance in [0, 1], got {distance!r}")
