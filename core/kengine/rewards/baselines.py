"""Advantages within a group: how much better a sample is than what its group has on average."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt

from kengine.errors import UsageError
from kengine.rewards.credit import Rewards
from kengine.rewards.outcome import require_number

Baseline = Callable[[Rewards], "list[float | None]"]


def group_mean(rewards: Rewards) -> list[float | None]:
    """Advantage r_i - mean(r), without division by the deviation.

    GRPO's baseline as Dr. GRPO (Liu et al., arXiv 2503.20783) and AMDKernelVault use it. A reward of None stays None
    and counts neither in the mean nor in its size. Raises UsageError for rewards that are not finite.
    """
    held = _held(rewards)
    mean = sum(held) / len(held) if held else 0.0
    return [None if r is None else r - mean for r in rewards]


def leave_one_out(rewards: Rewards) -> list[float | None]:
    """Advantage r_i - mean of the others = N / (N - 1) * (r_i - mean), N the number of rewards that are not None.

    RLOO (Ahmadian et al., arXiv 2402.14740), and by turn TRLOO of Dr.Kernel. A sample without others has 0.
    """
    n = len(_held(rewards))
    scale = n / (n - 1) if n > 1 else 0.0
    return [None if a is None else scale * a for a in group_mean(rewards)]


def standardized(rewards: Rewards, *, limit: float | None = None) -> list[float | None]:
    """Advantage (r_i - mean) / deviation, the deviation over all N; 0 for a group in which all are equal.

    GRPO in its first form (arXiv 2402.03300). limit: clip to +- limit; CUDA-L1 (arXiv 2507.14111) has 1.5.
    """
    if limit is not None:
        require_number("limit", limit, 0.0)
    centred = group_mean(rewards)
    held = [a for a in centred if a is not None]
    deviation = sqrt(sum(a * a for a in held) / len(held)) if held else 0.0
    largest = max((abs(r) for r in rewards if r is not None), default=0.0)
    if deviation <= 1e-12 * largest:
        return [None if a is None else 0.0 for a in centred]
    scaled = [None if a is None else a / deviation for a in centred]
    if limit is None:
        return scaled
    return [None if a is None else min(max(a, -limit), limit) for a in scaled]


def pooled(returns: Sequence[Rewards], baseline: Baseline = group_mean) -> list[list[float | None]]:
    """Advantages of several conversations on one task with every turn of all of them as one group (Kevin)."""
    advantages = iter(baseline([r for turns in returns for r in turns]))
    return [[next(advantages) for _ in turns] for turns in returns]


def by_turn(returns: Sequence[Rewards], baseline: Baseline = leave_one_out) -> list[list[float | None]]:
    """Advantages of several conversations on one task, each turn compared with the same turn of the others.

    Dr.Kernel's TRLOO (arXiv 2602.05885). Conversations may have different lengths: a turn's group are
    those that reached it.
    """
    result: list[list[float | None]] = [[] for _ in returns]
    for t in range(max(map(len, returns), default=0)):
        there = [n for n, turns in enumerate(returns) if len(turns) > t]
        for n, advantage in zip(there, baseline([returns[n][t] for n in there])):
            result[n].append(advantage)
    return result


def _held(rewards: Rewards) -> list[float]:
    if isinstance(rewards, (str, bytes)):
        raise UsageError("rewards: want a sequence of numbers and None")
    for n, reward in enumerate(rewards):
        if reward is not None:
            require_number(f"rewards[{n}]", reward)
    return [r for r in rewards if r is not None]
