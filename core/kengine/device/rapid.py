"""Calls that follow one another at once, as in a loop that trains: nothing waits, flushes or looks between them.

Timed calls have a flush and a wait before each, and calls that are checked have a comparison after each. A kernel that
is wrong only where there is no time between two calls would be right in both.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

MOST = 4


def call_in_a_row(calls: Sequence[Callable[[], Any]]) -> None:
    """Make two to four of these calls once more, in any order, one right after the other.

    What they give takes the place of what was kept of them before, so that the judge, who compares all of it, sees
    calls of both sorts. Not for calls that write to their inputs: they are right once only.
    """
    import torch

    if len(calls) < 2:
        return
    chance = random.SystemRandom()
    for call in chance.sample(list(calls), chance.randint(2, min(MOST, len(calls)))):
        call()
    torch.cuda.synchronize()
