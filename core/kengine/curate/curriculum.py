"""Stage `curriculum`: rows from easy to hard, in phases that may mix, with easy cases that count less and less."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kengine.curate.cells import draw
from kengine.curate.difficulty import WORDS
from kengine.curate.record import Outcome, Sample, drop, evolve
from kengine.curate.reorder import pick
from kengine.curate.stage import Context, Corpus, Stage
from kengine.curate.values import rate_of, to_text, value_of
from kengine.errors import UsageError
from kengine.model import JsonValue

_RATED = {"easy": 1 / 6, "medium": 1 / 2, "hard": 5 / 6}
_NOWHERE = 2**32 - 1


@dataclass(frozen=True)
class Curriculum:
    """[curriculum]: phases: how many parts of about equal size the order is cut into; or
    schedule: the values of `by` that each phase takes, `[[1], [1, 2, 3], [2, 3]]`; a row whose value several
    phases take falls into one of them by a draw, one that none takes is lost (no_phase).

    mixing: 0 goes strictly from easy to hard, 1 is a shuffle, between them each row is moved by a draw. Within a phase
    of a schedule rows are in this order too.
    fading: by how much the weight of the easiest rows falls until the last phase, from 0 (not at all) to below 1; rows
    in the middle lose half of that, the hardest nothing.
    """

    phases: int = 3
    schedule: tuple[tuple[JsonValue, ...], ...] = ()
    by: str = "level"
    mixing: float = 0.0
    fading: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.phases <= 1000:
            raise UsageError(f"phases: want 1 to 1000, got {self.phases}")
        if any(not values for values in self.schedule):
            raise UsageError("schedule: a phase takes no value, so that it would be empty")
        if not 0 <= self.mixing <= 1:
            raise UsageError(f"mixing: want 0 to 1, got {self.mixing:g}")
        if not 0 <= self.fading < 1:
            raise UsageError(f"fading: want at least 0 and below 1, got {self.fading:g}; [balance] drops rows")


def build(section: Curriculum, context: Context) -> Stage:
    """The stage; draws follow from the run's seed."""

    def run(corpus: Corpus) -> Iterator[Outcome]:
        return curriculum(corpus, section, context.settings.seed, context.scratch("curriculum"))

    return Stage("curriculum", "whole", run)


def curriculum(
    corpus: Corpus, section: Curriculum | None = None, seed: int = 0, scratch: Path | None = None
) -> Iterator[Outcome]:
    """Samples in the order of the curriculum, with labels order and phase (both from 1), and faded weights.

    scratch: an empty folder for a corpus that does not come from a run's store. The corpus is iterated once, then
    samples are fetched in their new order; 20 bytes of each stay in memory.
    """
    section = section or Curriculum()
    hardness, drawn, phases = array("d"), array("Q"), array("L")
    for sample in corpus:
        hardness.append(hardness_of(sample))
        drawn.append(draw("curriculum", seed, sample.uid))
        phases.append(_phase(section, value_of(sample, section.by), drawn[-1]))
    order = _order(section, hardness, drawn, phases)
    count = len(section.schedule) or min(section.phases, max(len(order), 1))
    place, kept = 0, sum(phase != _NOWHERE for phase in phases)
    for number, sample in zip(order, pick(corpus, order, scratch or Path())):
        if phases[number] == _NOWHERE:
            yield drop(sample, "no_phase", f"no phase takes {section.by} {value_of(sample, section.by) or 'unknown'!r}")
            continue
        phase = phases[number] if section.schedule else place * count // kept
        place += 1
        progress = phase / (count - 1) if count > 1 else 0.0
        faded = 1 - section.fading * progress * (1 - hardness[number])
        yield evolve(
            sample, weight=round(sample.weight * faded, 6), labels={**sample.labels, "order": place, "phase": phase + 1}
        )


def hardness_of(sample: Sample) -> float:
    """0 for a task that always passes, 1 for one that never does; by its level or its difficulty where nothing was
    measured, and in the middle where nothing is known."""
    rate = rate_of(sample)
    if rate is not None:
        return min(max(1 - rate, 0.0), 1.0)
    word = sample.labels.get("difficulty")
    if word in WORDS:
        return _RATED[str(word)]
    level = value_of(sample, "level")
    return _RATED[WORDS[min(max(int(level), 1), 3) - 1]] if level.isdigit() else 0.5


def _phase(section: Curriculum, value: str, drawn: int) -> int:
    if not section.schedule:
        return 0
    taking = [n for n, values in enumerate(section.schedule) if value in map(to_text, values)]
    return taking[drawn % len(taking)] if taking else _NOWHERE


def _order(section: Curriculum, hardness: array[float], drawn: array[int], phases: array[int]) -> list[int]:
    """Numbers of rows by phase and place: a row's rank among all, from 0 to 1, moved towards a number drawn for it."""
    order = sorted(range(len(hardness)), key=lambda n: (hardness[n], drawn[n]))
    if section.mixing:
        ranks, last = array("d", bytes(8 * len(order))), max(len(order) - 1, 1)
        for rank, number in enumerate(order):
            ranks[number] = (1 - section.mixing) * rank / last + section.mixing * drawn[number] / 2**64
        order.sort(key=ranks.__getitem__)
    if section.schedule:
        order.sort(key=phases.__getitem__)
    return order
