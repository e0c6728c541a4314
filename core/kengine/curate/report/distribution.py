"""How a figure is distributed over many samples, in bounded memory: quantiles and a histogram."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import floor, isfinite, log10
from typing import Any

EXACT = 4096
"""So many different values are kept as they are; beyond, all are rounded to three significant digits."""

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_BINS = 24
_WIDE = 20
"""Largest over smallest value from which on bins grow by a factor instead of by a step."""


class Distribution:
    """Values one after the other; what they are a count of does not matter."""

    def __init__(self) -> None:
        self._values: Counter[float] = Counter()
        self._rounded = False
        self.low = float("inf")
        self.high = float("-inf")

    def add(self, value: float | None) -> None:
        """One value; None and what is no finite number count not."""
        if value is None or not isfinite(value):
            return
        self.low, self.high = min(self.low, value), max(self.high, value)
        self._values[_round(value) if self._rounded else value] += 1
        if not self._rounded and len(self._values) > EXACT:
            self._rounded = True
            values, self._values = self._values, Counter()
            for each, number in values.items():
                self._values[_round(each)] += number

    @property
    def count(self) -> int:
        """How many values there were."""
        return sum(self._values.values())

    def to_json(self) -> dict[str, Any]:
        """count, low, high, mean, quantiles by name (p5, p25, p50, p75, p95) and bins [from, to, count].

        A quantile is the smallest value with at least that share of the values up to it. Where there are few different
        values each has a bin of its own, else bins are of equal width, or of equal ratio when values differ by more
        than a factor of 20; the last one holds its upper end.
        """
        count = self.count
        if not count:
            return {"count": 0}
        body: dict[str, Any] = {"count": count, "low": self.low, "high": self.high}
        body["mean"] = sum(v * n for v, n in self._values.items()) / count
        ordered, reached, quantiles = sorted(self._values), 0, iter(QUANTILES)
        wanted = next(quantiles, None)
        for value in ordered:
            reached += self._values[value]
            while wanted is not None and reached >= wanted * count - 1e-9:
                body[f"p{round(wanted * 100)}"] = min(max(value, self.low), self.high)
                wanted = next(quantiles, None)
        body["bins"] = self._bins()
        return body

    def _bins(self) -> list[list[float]]:
        ordered = sorted(self._values)
        if len(ordered) <= _BINS:
            return [[value, value, self._values[value]] for value in ordered]
        edges = _edges(self.low, self.high, all(v == int(v) for v in ordered))
        bins = [[low, high, 0] for low, high in pairwise(edges)]
        at = 0
        for value in ordered:
            while at + 1 < len(bins) and value >= bins[at][1]:
                at += 1
            bins[at][2] += self._values[value]
        return bins


def _edges(low: float, high: float, whole: bool) -> list[float]:
    if low > 0 and high / low > _WIDE:
        ratio = (high / low) ** (1 / _BINS)
        return [low * ratio**n for n in range(_BINS)] + [high]
    if whole:
        # as many whole numbers in each bin, or else some would look rare
        step = -(-(high - low + 1) // _BINS)
        return [low + step * n for n in range(int((high - low) // step) + 2)]
    return [low + (high - low) / _BINS * n for n in range(_BINS)] + [high]


def _round(value: float) -> float:
    if value == 0:
        return 0.0
    return round(value, 2 - floor(log10(abs(value))))
