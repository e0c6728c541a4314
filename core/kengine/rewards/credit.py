"""Credit of the turns of one conversation: what each turn earned itself, and what it led to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from kengine.errors import UsageError
from kengine.rewards.outcome import require_number

Rewards = Sequence["float | None"]


def returns(
    rewards: Rewards, *, gamma: float, normalize: bool = False, aggregate: Literal["sum", "max"] = "sum"
) -> list[float | None]:
    """Discounted return of each turn of one conversation, first turn first:

        R_t = sum over i >= t of gamma^(i - t) * r_i

    Kevin (arXiv 2507.11948) has gamma 0.4, AMDKernelVault 0.6, Dr.Kernel 1, none of them normalised. normalize: divide
    by the sum of the weights, so that a return is a mean of rewards and early turns are not larger than late ones.
    aggregate "max": the largest gamma^(i - t) * r_i in place of the sum, which Kevin's paper compares with.

    A reward of None (the machine failed) makes the return of that turn and of every turn before it None: what they led
    to is not known. With gamma 0 only its own turn. Raises UsageError for a gamma outside [0, 1] and for rewards that
    are not finite.
    """
    require_number("gamma", gamma, 0.0)
    if gamma > 1:
        raise UsageError(f"gamma: want a number from 0 to 1, got {gamma!r}")
    if aggregate not in ("sum", "max"):
        raise UsageError(f"aggregate: {aggregate!r} is neither 'sum' nor 'max'")
    if aggregate == "max" and normalize:
        raise UsageError("normalize: a largest reward has no weights to divide by; use aggregate='sum'")
    found: list[float | None] = []
    following: float | None = None
    weight = 0.0
    for n, reward in enumerate(reversed(rewards)):
        if reward is not None:
            require_number(f"rewards[{len(rewards) - 1 - n}]", reward)
        weight = 1 + gamma * weight
        following = _before(reward, following, gamma, aggregate == "max", last=n == 0)
        found.append(following / weight if normalize and following is not None else following)
    return found[::-1]


def _before(reward: float | None, following: float | None, gamma: float, largest: bool, last: bool) -> float | None:
    if last or gamma == 0:
        return None if reward is None else float(reward)
    if reward is None or following is None:
        return None
    return max(reward, gamma * following) if largest else reward + gamma * following
