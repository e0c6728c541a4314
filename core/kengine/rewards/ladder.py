"""kengine's own rewards: right or not, and a ladder from compiling to being fast."""

from __future__ import annotations

from math import log2

from kengine.errors import UsageError
from kengine.rewards.outcome import Judged, read, require_number


def correctness(judged: Judged, *, compiled: float = 0.0, allow_self_referenced: bool = False) -> float | None:
    """Reward a correct candidate alone, or something for one that compiles and is wrong:

        k + compiled * c * (1 - k)

    c: compiles, k: correct; kengine's own. Has no speed term, hence works on emulators. Raises UsageError,
    see `outcome.read`.
    """
    require_number("compiled", compiled)
    outcome = read(judged, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    return outcome.settle(1.0 if outcome.correct else compiled * outcome.compiled)


def staged(
    judged: Judged, *, compiled: float = 0.1, correct: float = 0.4, speed: float = 0.5, full: float = 4.0,
    unclear: float = 0.0, allow_self_referenced: bool = False,
) -> float | None:  # fmt: skip
    """Reward each stage that is reached, and a bounded speed-up:

        compiled * c + correct * k + speed * k * clip(log2(s) / log2(full), 0, 1)

    c: compiles, k: correct, s: speed-up. A kernel as fast as the baseline earns nothing for speed, one that is `full`
    times as fast earns all of it; with the defaults the reward lies in [0, 1]. speed=0 works on emulators.
    Raises UsageError for a `full` of 1 or less, and see `outcome.read`.
    """
    for name, value in (("compiled", compiled), ("correct", correct), ("speed", speed), ("full", full)):
        require_number(name, value)
    if full <= 1:
        raise UsageError(f"full: want a speed-up above 1, got {full!r}")
    outcome = read(judged, speed=speed != 0, unclear=unclear, allow_self_referenced=allow_self_referenced)
    if outcome is None:
        return None
    gained = min(log2(outcome.speed) / log2(full), 1.0) if outcome.speed > 1 else 0.0
    return outcome.settle(compiled * outcome.compiled + correct * outcome.correct + speed * gained)
