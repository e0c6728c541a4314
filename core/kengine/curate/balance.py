"""Stage `balance`: no label has too many rows, and what is scarce counts more: caps, weights and temperature."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

from kengine.curate.cells import Cells
from kengine.curate.record import Outcome, Sample, drop, evolve
from kengine.curate.stage import Context, Corpus, Stage
from kengine.curate.values import rate_of, value_of
from kengine.errors import UsageError
from kengine.model import JsonValue

HARDNESS = frozenset({"level", "difficulty"})
"""Labels whose factors raise hard cases, and so wait for a signal."""


@dataclass(frozen=True)
class Balance:
    """[balance]: what is dropped and how much the rest counts.

    caps: at most so many rows of each value of a label, `{source = 5000, category = {elementwise = 200}}`.
    weights: factors by label and value, `{backend = {nki = 3.0}}`. by, temperature: rows that have the same values of
    all labels of `by` form a cell of n rows; a cell's weight in all becomes proportional to n^(1/temperature), so 1
    leaves the shares as they are and a large one makes cells equal. The largest cell keeps weight 1 and the others
    count up to max_weight. hard: factor by which a task counts that hardly ever passes, falling in a line to 1 for one
    that always does; 1 changes nothing.
    Hard cases count up only while they yield a signal: a factor above 1 by level, difficulty or pass rate, or of a
    temperature over level or difficulty, is left out for a task whose measured pass rate is not above `floor` and
    below 1.
    min_pass_rate, max_pass_rate: tasks that were measured outside are dropped (too_hard, too_easy).
    Labels are those of samples, and task, backend, source, license, model, language.
    """

    caps: dict[str, JsonValue] = field(default_factory=dict)
    weights: dict[str, dict[str, float]] = field(default_factory=dict)
    by: tuple[str, ...] = ()
    temperature: float = 1.0
    max_weight: float = 10.0
    hard: float = 1.0
    floor: float = 0.0
    min_pass_rate: float = 0.0
    max_pass_rate: float = 1.0

    def __post_init__(self) -> None:
        for name, cap in self.caps.items():
            for number in cap.values() if isinstance(cap, Mapping) else [cap]:
                if type(number) is not int or number < 0:
                    raise UsageError(
                        f"caps: {name}: want a number of rows of at least 0, or a table of such numbers by value, got "
                        f"{number!r}"
                    )
        for name, table in self.weights.items():
            for value, factor in table.items():
                if not (isfinite(factor) and factor > 0):
                    raise UsageError(f"weights: {name}.{value}: want a factor above 0, got {factor:g}; caps drop rows")
        if not (isfinite(self.temperature) and self.temperature >= 1):
            raise UsageError(f"temperature: want at least 1, got {self.temperature:g}")
        if self.temperature > 1 and not self.by:
            raise UsageError("by: temperature needs labels to form cells by, for instance by = [\"category\"]")
        for name in ("max_weight", "hard"):
            if not (isfinite(getattr(self, name)) and getattr(self, name) >= 1):
                raise UsageError(f"{name}: want at least 1, got {getattr(self, name):g}")
        if not 0 <= self.floor < 1:
            raise UsageError(f"floor: want a pass rate from 0 to below 1, got {self.floor:g}")
        if not 0 <= self.min_pass_rate <= self.max_pass_rate <= 1:
            raise UsageError(
                f"min_pass_rate: want 0 <= min_pass_rate <= max_pass_rate <= 1, got {self.min_pass_rate:g} and "
                f"{self.max_pass_rate:g}"
            )


def build(section: Balance, context: Context) -> Stage:
    """The stage; which rows a cap keeps follows from the run's seed."""
    return Stage("balance", "whole", lambda corpus: balance(corpus, section, context.settings.seed))


def balance(corpus: Corpus, section: Balance | None = None, seed: int = 0) -> Iterator[Outcome]:
    """Drop rows beyond caps, weigh the others. The corpus is iterated twice; the order stays.

    Of what a cap is about, those rows are kept that come first in an order drawn from `seed` and the sample's uid: the
    same in every run, and hardly another one when rows are added.
    """
    section = section or Balance()
    cells = Cells.of(corpus, section.caps, section.by, seed, lambda sample: not _out_of_range(sample, section))
    factors = cells.factors(section.temperature)
    gated = bool(HARDNESS & set(section.by))
    for number, sample in enumerate(corpus):
        problem = _out_of_range(sample, section)
        if problem:
            yield drop(sample, *problem)
            continue
        capped = cells.capped(number)
        if capped:
            yield drop(sample, "over_cap", f"{capped}, and seed {seed} draws others")
            continue
        weight = sample.weight * weigh(sample, section, factors[cells.cell(number)], gated)
        yield evolve(sample, weight=round(min(weight, section.max_weight), 6))


def weigh(sample: Sample, section: Balance, cell: float = 1.0, gated: bool = False) -> float:
    """The factor of one sample. cell: that of its cell, which counts hardness in when it is `gated`."""
    rate = rate_of(sample)
    signal = rate is None or section.floor < rate < 1
    factor = _allow(cell, signal or not gated)
    for name, table in section.weights.items():
        factor *= _allow(table.get(value_of(sample, name), 1.0), signal or name not in HARDNESS)
    if rate is not None:
        factor *= _allow(1 + (section.hard - 1) * (1 - rate), signal)
    return factor


def _allow(factor: float, raising: bool) -> float:
    return factor if raising else min(factor, 1.0)


def _out_of_range(sample: Sample, section: Balance) -> tuple[str, str] | None:
    rate = rate_of(sample)
    if rate is None:
        return None
    if rate < section.min_pass_rate:
        return "too_hard", f"{rate:.3g} of the attempts at its task passed, want at least {section.min_pass_rate:g}"
    if rate > section.max_pass_rate:
        return "too_easy", f"{rate:.3g} of the attempts at its task passed, want at most {section.max_pass_rate:g}"
    return None


__all__ = ["Balance", "balance", "build", "weigh"]
