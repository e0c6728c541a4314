"""Stages over a pass of the input: outcomes in the order of their positions, and every sample accounted for."""

from __future__ import annotations

from collections import Counter

import pytest
from kengine.curate import flow
from kengine.curate.funnel import Funnel, Ledger, Unaccounted
from kengine.curate.record import Loss, Sample
from kengine.curate.stage import Stage


def make(uid: str) -> Sample:
    return Sample(uid, "s", uid)


def lose(uid: str) -> Loss:
    return Loss(uid, "bad", "", "", "", {})


def run(stages, outcomes):
    funnel = Funnel()
    for stage in stages:
        funnel[stage.name]
    ledger = Ledger(funnel)
    out = list(flow.run(stages, iter(enumerate(outcomes, 1)), ledger))
    return [(position, each.uid) for position, each in out], ledger.settle(99)


def late(samples):
    """A stream that draws three samples before it gives its first result; every `b` is lost."""
    held = []
    for sample in samples:
        held.append(sample)
        if len(held) == 3:
            yield [lose("b")] if held[0].uid == "b" else [held[0]]
            held.pop(0)
    for sample in held:
        yield [lose("b")] if sample.uid == "b" else [sample]


def test_losses_of_before_keep_their_places_between_the_results_of_a_stream() -> None:
    given = [lose("x"), make("a"), lose("y"), lose("z"), make("b"), make("c"), make("d"), lose("w")]
    out, funnel = run([Stage("late", "stream", late)], given)
    assert out == [(n, uid) for n, uid in enumerate("xayzbcdw", 1)]
    step = funnel["late"]
    assert (step.entered, step.left, step.lost) == (4, 3, Counter(bad=1))


def test_a_stream_that_gives_nothing_for_a_sample_or_too_much_is_found_out() -> None:
    def forgets(samples):
        for n, sample in enumerate(samples):
            if n != 1:
                yield [sample]

    def invents(samples):
        for sample in samples:
            yield [sample]
            yield [sample]

    given = [make("a"), make("b"), make("c")]
    with pytest.raises(Unaccounted, match="stage s: ended without a result for some of its samples"):
        run([Stage("s", "stream", forgets)], given)
    with pytest.raises(Unaccounted, match="stage s: gave more results than it took samples in"):
        run([Stage("s", "stream", invents)], given)


def test_each_position_is_complete_before_the_next_begins() -> None:
    double = Stage("double", "row", lambda s: [make(s.uid + "1"), make(s.uid + "2")], adds=True)
    out, funnel = run([double, Stage("late", "stream", late)], [make("a"), lose("x"), make("b")])
    assert out == [(1, "a1"), (1, "a2"), (2, "x"), (3, "b1"), (3, "b2")]
    assert (funnel["double"].added, funnel["late"].entered) == (2, 4)
