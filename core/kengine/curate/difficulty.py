"""Stage `difficulty`: how hard each task is, by what its reference computes and by how often attempts at it passed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kengine.curate import structure
from kengine.curate.attempts import Attempts, Count
from kengine.curate.record import Loss, Outcome, Sample, evolve
from kengine.curate.stage import Context, Corpus, Stage
from kengine.errors import UsageError
from kengine.model import JsonValue

WORDS = ("easy", "medium", "hard")
"""What the label `difficulty` may be."""

_MEASURED = frozenset({"difficulty", "pass_rate", "attempts"})
"""Labels that an earlier run may have left, and that are worked out anew."""


@dataclass(frozen=True)
class Difficulty:
    """[difficulty]: prefer: "source" keeps operator, category, level and difficulty that a source gives, "rule" reads
    them from the reference.

    min_attempts: with fewer judged samples a task has no pass rate. easy, hard: a task whose pass rate is at least
    `easy` is easy, at most `hard` hard, else medium; without a pass rate its level decides (1 easy, 2 medium, 3 hard).
    """

    prefer: str = "source"
    min_attempts: int = 4
    easy: float = 0.75
    hard: float = 0.25

    def __post_init__(self) -> None:
        if self.prefer not in ("source", "rule"):
            raise UsageError(f"prefer: {self.prefer!r} is not known; allowed: source, rule")
        if self.min_attempts < 1:
            raise UsageError(f"min_attempts: want at least 1, got {self.min_attempts}")
        for name in ("easy", "hard"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}: want a pass rate from 0 to 1, got {getattr(self, name):g}")
        if self.hard >= self.easy:
            raise UsageError(f"hard: want less than easy, got hard = {self.hard:g} and easy = {self.easy:g}")


def build(section: Difficulty, context: Context) -> Stage:
    """The stage; losses of the run count as attempts, alone only what is given does."""
    store = context.store

    def run(corpus: Corpus) -> Iterator[Outcome]:
        return difficulty(corpus, section, store.losses() if store is not None else ())

    return Stage("difficulty", "whole", run)


def difficulty(
    corpus: Iterable[Sample], section: Difficulty | None = None, losses: Iterable[Loss] = ()
) -> Iterator[Sample]:
    """Label samples with operator, category, level, attempts, pass_rate and difficulty, as far as they are known.

    pass_rate: passed over judged attempts at the sample's task on its backend, `losses` included: without those it
    is 1. The corpus is iterated twice.
    """
    section = section or Difficulty()
    attempts = Attempts.of(corpus, losses)
    for sample in corpus:
        yield rate(sample, attempts.find(sample), section)


def rate(sample: Sample, count: Count | None, section: Difficulty) -> Sample:
    """The sample with its labels; `count` are the attempts at its task."""
    labels = structure.describe(sample, section.prefer)
    measured: float | None = None
    if count is not None:
        labels["attempts"] = count.n
        if count.n >= section.min_attempts:
            measured = labels["pass_rate"] = round(count.rate, 6)
    said = sample.labels.get("difficulty")
    if said is not None and said not in WORDS:
        labels["rated"] = said
    word = grade(measured, labels.get("level"), said if section.prefer == "source" else None, section)
    if word:
        labels["difficulty"] = word
    kept = {k: v for k, v in sample.labels.items() if k not in _MEASURED}
    return evolve(sample, labels={**kept, **labels})


def grade(measured: float | None, level: JsonValue, said: JsonValue, section: Difficulty) -> str:
    """easy, medium or hard; "" when nothing is known. A measured pass rate counts most, then what a source said.

    said: one of these words, or a number from 1 to 5 as TritonBench rates its operators.
    """
    if measured is not None:
        return "easy" if measured >= section.easy else "hard" if measured <= section.hard else "medium"
    if said in WORDS:
        return str(said)
    if type(said) is int:
        return WORDS[min(max(said - 2, 0), 2)]
    return WORDS[min(max(level, 1), 3) - 1] if type(level) is int else ""

