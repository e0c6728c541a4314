"""Runs consecutive row and stream stages over one pass of the input, keeping track of what became of each sample."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Union

from kengine.curate.funnel import Ledger, Unaccounted
from kengine.curate.record import Loss, Outcome, Sample
from kengine.curate.stage import Stage

Placed = tuple[int, Outcome]
"""An outcome and the position of the input that it came from."""

_NONE: Counter[str] = Counter()


def run(stages: Sequence[Stage], placed: Iterator[Placed], ledger: Ledger) -> Iterator[Placed]:
    """Chain stages; outcomes come in order of their positions, each position complete before the next begins."""
    for stage in stages:
        placed = _stream(stage, placed, ledger) if stage.kind == "stream" else _rows(stage, placed, ledger)
    return placed


def source(stage: Stage, start: int, ledger: Ledger) -> Iterator[Placed]:
    """The outcomes of a source with their positions; `start` of them are in the store already."""
    for position, outcome in enumerate(stage.run(start), start + 1):
        yield position, count(stage, ledger, position, (outcome,))[0]


def whole(stage: Stage, outcomes: Iterable[Outcome], entered: int, ledger: Ledger) -> Iterator[Outcome]:
    """The outcomes of a stage that sees all samples; counted at its end."""
    left, lost = 0, Counter[str]()
    for outcome in outcomes:
        if isinstance(outcome, Loss):
            lost[outcome.reason] += 1
            yield replace(outcome, stage=stage.name)
        else:
            left += 1
            yield outcome
    ledger.note(stage.name, 0, entered, left, lost, stage.adds)


def _rows(stage: Stage, placed: Iterator[Placed], ledger: Ledger) -> Iterator[Placed]:
    for position, outcome in placed:
        if isinstance(outcome, Loss):
            yield position, outcome
            continue
        for each in count(stage, ledger, position, tuple(stage.run(outcome))):
            yield position, each


def _stream(stage: Stage, placed: Iterator[Placed], ledger: Ledger) -> Iterator[Placed]:
    waiting: deque[tuple[int, Union[Loss, None]]] = deque()

    def feed() -> Iterator[Sample]:
        for position, outcome in placed:
            waiting.append((position, outcome if isinstance(outcome, Loss) else None))
            if isinstance(outcome, Sample):
                yield outcome

    for result in stage.run(feed()):
        while waiting and waiting[0][1] is not None:
            position, loss = waiting.popleft()
            assert loss is not None
            yield position, loss
        if not waiting:
            raise Unaccounted(f"stage {stage.name}: gave more results than it took samples in")
        position, _ = waiting.popleft()
        for each in count(stage, ledger, position, tuple(result)):
            yield position, each
    for position, loss in waiting:
        if loss is None:
            raise Unaccounted(f"stage {stage.name}: ended without a result for some of its samples")
        yield position, loss


def count(stage: Stage, ledger: Ledger, position: int, outcomes: tuple[Outcome, ...]) -> tuple[Outcome, ...]:
    """Note what a stage made of one sample; its losses with the stage's name."""
    if len(outcomes) == 1 and isinstance(outcomes[0], Sample):
        ledger.note(stage.name, position, 1, 1, _NONE, stage.adds)
        return outcomes
    lost = Counter(o.reason for o in outcomes if isinstance(o, Loss))
    ledger.note(stage.name, position, 1, len(outcomes) - sum(lost.values()), lost, stage.adds)
    if not lost:
        return outcomes
    return tuple(replace(o, stage=stage.name) if isinstance(o, Loss) else o for o in outcomes)
