"""From raw samples to faster, same, slower or unclear: medians, and intervals by bootstrap over whole batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Label = Literal["faster", "same", "slower", "unclear"]

MARGIN = 0.02
"""Speed-ups within 1 +- this are called the same: a kernel's time is not known better from run to run."""
RESAMPLES = 1000


@dataclass(frozen=True)
class Speedup:
    """Ratio of medians, baseline over candidate, its 95 % interval, and every resampled ratio."""

    value: float
    low: float
    high: float
    ratios: tuple[float, ...]

    @property
    def label(self) -> Label:
        """What the interval allows to be said."""
        return label(self.low, self.high)


def label(low: float, high: float) -> Label:
    """faster or slower when the interval lies beyond the margin, same when it lies within it, else unclear."""
    if low >= 1 + MARGIN:
        return "faster"
    if high <= 1 / (1 + MARGIN):
        return "slower"
    if low >= 1 / (1 + MARGIN) and high <= 1 + MARGIN:
        return "same"
    return "unclear"


def speedup(baseline: Sequence[Sequence[int]], candidate: Sequence[Sequence[int]], seed: int) -> Speedup:
    """Compare batches of nanoseconds that were measured in turn; resamples batches, since samples of one hang together.

    Both lists have the same number of batches, at least one, and every batch as many samples, at least one.
    """
    generator = np.random.default_rng(seed)
    count = len(candidate)
    chosen = generator.integers(0, count, (RESAMPLES if count > 1 else 1, count))
    ratios = _medians(baseline, chosen) / _medians(candidate, chosen)
    low, high = _interval(ratios)
    value = _median(baseline) / _median(candidate)
    return Speedup(value, min(low, value), max(high, value), tuple(ratios.tolist()))


def geometric_mean(parts: Sequence[Speedup]) -> Speedup:
    """The geometric mean over cases, its interval from the cases' resamples taken together."""
    length = min(len(p.ratios) for p in parts)
    table = np.log([p.ratios[:length] for p in parts]).mean(axis=0)
    low, high = _interval(np.exp(table))
    value = float(np.exp(np.mean([np.log(p.value) for p in parts])))
    return Speedup(value, min(low, value), max(high, value), tuple(float(r) for r in np.exp(table)))


def _medians(batches: Sequence[Sequence[int]], chosen: Any) -> Any:
    """Median of all samples of the batches in each row of `chosen`; batches are of one length."""
    table = np.asarray([list(b) for b in batches], dtype=np.float64)
    return np.median(table[chosen].reshape(len(chosen), -1), axis=1)


def _interval(values: Any) -> tuple[float, float]:
    low, high = np.quantile(values, (0.025, 0.975))
    return float(low), float(high)


def _median(batches: Sequence[Sequence[int]]) -> float:
    return float(np.median(np.concatenate([np.asarray(b, dtype=np.float64) for b in batches])))
