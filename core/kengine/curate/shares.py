"""A pass over a source by several processes: each reads some of the rows, and one writes what they make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from kengine import codec
from kengine.curate import crew, flow, rows
from kengine.curate.funnel import Funnel, Ledger, Step
from kengine.curate.record import Loss, Outcome
from kengine.curate.stage import Stage
from kengine.curate.store import LossColumns, loss_columns
from kengine.model import Task

SHARE = 500
"""Rows that a process reads before another one goes on."""

WORTHWHILE = 16 << 20
"""Bytes of a source from which on starting processes pays."""


@dataclass
class Share:
    """What a run of neighbouring rows became: encoded samples, tasks that were not sent before, losses and counts.

    position: of the last row.
    """

    position: int
    samples: list[tuple[str, bytes]] = field(default_factory=list)
    tasks: list[tuple[str, str]] = field(default_factory=list)
    losses: list[LossColumns] = field(default_factory=list)
    funnel: Funnel = field(default_factory=Funnel)


def can_share(group: Sequence[Stage], jobs: int) -> bool:
    """Whether a pass can be done so: a large source and stages that know one row only."""
    source, *rest = group
    return jobs > 1 and source.split is not None and source.size >= WORTHWHILE and all(s.kind == "row" for s in rest)


def share(group: Sequence[Stage], start: int, jobs: int) -> Iterator[Share]:
    """Read everything from row `start` on; shares come in order."""
    return crew.spread(lambda k, of: _read(group, start, k, of), min(jobs, crew.MOST))


def _read(group: Sequence[Stage], start: int, k: int, of: int) -> Iterator[Share]:
    source, *rest = group
    assert source.split is not None

    def wanted(number: int) -> bool:
        return number >= start and (number - start) // SHARE % of == k

    ledger = Ledger(Funnel(Step(stage.name) for stage in group))
    placed = flow.run(rest, _placed(source, wanted, ledger), ledger)
    encode = _Encoder()
    for _, outcomes in groupby(placed, key=lambda pair: (pair[0] - 1 - start) // SHARE):
        made = Share(0)
        for position, outcome in outcomes:
            made.position = position
            encode.add(made, outcome)
        made.funnel = ledger.settle(made.position)
        yield made
        ledger.funnel = Funnel()


def _placed(source: Stage, wanted: Callable[[int], bool], ledger: Ledger) -> Iterator[flow.Placed]:
    assert source.split is not None
    for position, outcome in enumerate(source.split(wanted), 1):
        if outcome is not None and wanted(position - 1):
            yield position, flow.count(source, ledger, position, (outcome,))[0]


class _Encoder:
    """Samples as texts; the digest and the text of a task are worked out once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Task, str]] = {}
        self._sent: set[str] = set()

    def add(self, made: Share, outcome: Outcome) -> None:
        """Put one outcome into a share."""
        if isinstance(outcome, Loss):
            made.losses.append(loss_columns(outcome))
            return
        digest = ""
        if outcome.task is not None:
            known = self._known.get(id(outcome.task))
            if known is None or known[0] is not outcome.task:
                if len(self._known) > 4096:
                    self._known.clear()
                known = self._known[id(outcome.task)] = (outcome.task, outcome.task.digest)
            digest = known[1]
            if digest not in self._sent:
                self._sent.add(digest)
                made.tasks.append((digest, codec.dumps(outcome.task)))
        made.samples.append((outcome.group, rows.encode(outcome, digest)))


__all__ = ["SHARE", "WORTHWHILE", "Share", "can_share", "share"]
