"""A reward of one's own, put together from the terms that the published ones are made of."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite, log, log2
from typing import Union

from kengine.errors import UsageError
from kengine.model import Status, Verdict
from kengine.rewards.outcome import Judged, Outcome, read, require_number
from kengine.rewards.profiled import coverage


def linear(s: float) -> float:
    """s"""
    return s


def gain(s: float) -> float:
    """s - 1, 0 at the speed of the baseline."""
    return s - 1


def log2_gain(s: float) -> float:
    """log2(s), and its least finite value for s = 0."""
    return log2(max(s, 1e-9))


def ln_gain(s: float) -> float:
    """ln(s), and its least finite value for s = 0."""
    return log(max(s, 1e-9))


SHAPES: Mapping[str, Callable[[float], float]] = {"linear": linear, "gain": gain, "log2": log2_gain, "ln": ln_gain}
"""What a speed-up can be turned into, by name."""


@dataclass(frozen=True)
class Reward:
    """A reward as a picklable object; called with a verdict it gives a float, or None like every reward.

        compiled * c + k * (correct + speed * clip(shape(s), low, high) + sum of bonuses + covered * coverage)

    c: compiles, k: correct, s: speed-up. shape: a name of SHAPES, or a function at the top level of a module.
    bonuses: pairs (threshold, amount); the amount is earned when s is above the threshold.
    statuses: the whole reward for a status, in place of the sum, for instance {"timed_out": -0.5}.
    failed: the reward for what is not correct and has no entry in `statuses`, in place of compiled * c.
    unclear: the most that a speed-up counts for while its timing is unclear; None takes 0, or 1 where the shape is
    negative at 0, so that a noisy clock never earns anything and is never punished.

    Raises UsageError for a parameter that is not finite, an unknown shape or status, a positive reward for an
    integrity failure, and an object that cannot be pickled.
    """

    compiled: float = 0.0
    correct: float = 1.0
    speed: float = 0.0
    shape: Union[str, Callable[[float], float]] = "linear"
    low: float = 0.0
    high: float = 10.0
    bonuses: tuple[tuple[float, float], ...] = ()
    covered: float = 0.0
    default_coverage: float | None = None
    failed: float | None = None
    statuses: Mapping[str, float] = field(default_factory=dict)
    unclear: float | None = None
    allow_self_referenced: bool = False

    def __post_init__(self) -> None:
        for name in ("compiled", "correct", "speed", "low", "high", "covered"):
            require_number(name, getattr(self, name))
        for name in ("failed", "unclear", "default_coverage"):
            if getattr(self, name) is not None:
                require_number(name, getattr(self, name))
        if self.low > self.high:
            raise UsageError(f"low: {self.low:g} lies above high, {self.high:g}")
        if isinstance(self.shape, str) and self.shape not in SHAPES:
            raise UsageError(f"shape: {self.shape!r} is none of {', '.join(SHAPES)}, nor a function")
        object.__setattr__(self, "bonuses", tuple(_pair(b) for b in self.bonuses))
        object.__setattr__(self, "statuses", {_status(k): v for k, v in self.statuses.items()})
        for status, value in self.statuses.items():
            require_number(f"statuses[{status!r}]", value)
            if status in (Status.sham, Status.tampered) and value > 0:
                raise UsageError(f"statuses[{str(status)!r}]: {value:g}, but an integrity failure is never positive")
        try:
            pickle.dumps(self)
        except Exception as error:
            raise UsageError(
                f"this reward cannot be sent to a worker, because shape cannot be pickled ({error}): use a function "
                "at the top level of a module"
            ) from None

    @property
    def asks_speed(self) -> bool:
        """Whether a speed-up is needed, hence timing on a device."""
        return self.speed != 0 or bool(self.bonuses)

    def __call__(self, judged: Judged) -> float | None:
        """Reward one sample. Raises UsageError, see `outcome.read`, and for a shape that gives no finite number."""
        outcome = read(
            judged, speed=self.asks_speed, unclear=self._unclear(), allow_self_referenced=self.allow_self_referenced
        )
        if outcome is None or not isinstance(judged, Verdict):
            return None
        return outcome.settle(self._value(outcome, judged))

    def _value(self, outcome: Outcome, verdict: Verdict) -> float:
        if outcome.status in self.statuses:
            return self.statuses[outcome.status]
        if not outcome.correct:
            return self.compiled * outcome.compiled if self.failed is None else self.failed
        value = self.compiled + self.correct
        if self.speed:
            value += self.speed * min(max(self._shaped(outcome.speed), self.low), self.high)
        value += sum(amount for threshold, amount in self.bonuses if outcome.speed > threshold)
        if self.covered:
            value += self.covered * coverage(verdict, self.default_coverage)
        return value

    def _shaped(self, speed: float) -> float:
        value = SHAPES[self.shape](speed) if isinstance(self.shape, str) else self.shape(speed)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
            raise UsageError(f"shape gives {value!r} for a speed-up of {speed:g}, expected a finite number")
        return value

    def _unclear(self) -> float:
        if self.unclear is not None:
            return self.unclear
        return 1.0 if self.speed and self.low < 0 and self._shaped(0.0) < 0 else 0.0


def _pair(value: object) -> tuple[float, float]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise UsageError(f"bonuses: want pairs (threshold, amount), got {value!r}")
    for number in value:
        require_number("bonuses", number)
    return value[0], value[1]


def _status(value: str) -> Status:
    try:
        return Status(value)
    except ValueError:
        raise UsageError(f"statuses: {value!r} is no status; there are {', '.join(map(str, Status))}") from None
