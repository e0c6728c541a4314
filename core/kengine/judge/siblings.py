"""Cases that are mixed into the timing of another: the same arrays with values of another class.

A kernel that tells the data of a test from the data of a measurement is compared on both in one batch, in both ways.
"""

from __future__ import annotations

import random

from kengine.judge.session import Session


def find(session: Session, index: int) -> tuple[int, ...]:
    """Numbers of the other cases whose inputs and outputs have the same dtypes, shapes, strides and plain values."""
    own = session.cases[index]
    return tuple(
        n
        for n, case in enumerate(session.cases)
        if n != index
        and (case.params, case.dtype, case.layout) == (own.params, own.dtype, own.layout)
        and case.values != own.values
        and session.views[n].outputs == session.views[index].outputs
        and _form(session, n) == _form(session, index)
    )


def choose(session: Session, index: int, number: int, sets: int, related: tuple[int, ...]) -> list[int]:
    """The case that each set of a round takes its inputs from: one of the related ones at a place that follows from
    the run's secret, the timed case itself at all others. A single set is always its own."""
    chosen = [index] * sets
    if related and sets > 1:
        chooser = random.Random(session.seed(session.cases[index], f"time/{number}/mix"))
        chosen[chooser.randrange(sets)] = related[number % len(related)]
    return chosen


def _form(session: Session, index: int) -> list[tuple[str, object, int]]:
    packed = session.entry(session.cases[index], "check").lent
    return [(name, leaf.spec, leaf.at) for name, leaf in packed.names]
