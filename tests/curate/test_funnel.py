"""Counts add up, and what does not add up is told."""

from __future__ import annotations

from collections import Counter

import pytest
from kengine.curate.funnel import Funnel, Ledger, Step, Unaccounted


def test_a_step_adds_up() -> None:
    funnel = Funnel()
    funnel.record("a", 10, 7, {"bad": 2, "worse": 1})
    funnel.record("a", 2, 2, {})
    funnel.record("b", 9, 11, {"bad": 1}, adds=True)
    funnel.check()
    assert funnel.to_json() == [
        {"stage": "a", "entered": 12, "added": 0, "left": 9, "lost": {"bad": 2, "worse": 1}},
        {"stage": "b", "entered": 9, "added": 3, "left": 11, "lost": {"bad": 1}},
    ]
    assert Funnel.from_json(funnel.to_json()) == funnel


def test_samples_that_vanish_or_appear_are_told() -> None:
    with pytest.raises(Unaccounted, match="1 samples vanished without a reason"):
        Funnel().record("a", 2, 1, {})
    with pytest.raises(Unaccounted, match="2 samples were made up"):
        Funnel().record("a", 1, 3, {})
    with pytest.raises(Unaccounted, match="stage a: 3 entered and 0 were added, but 1 left and 1 were lost: 1"):
        Funnel([Step("a", 3, 0, 1, Counter(x=1))]).check()
    with pytest.raises(Unaccounted, match="stage a let 2 samples through, b took in 1"):
        Funnel([Step("a", 2, 0, 2), Step("b", 1, 0, 1)]).check()


def test_a_ledger_counts_only_up_to_a_position() -> None:
    funnel = Funnel()
    funnel["a"], funnel["b"]
    ledger = Ledger(funnel)
    for position in (1, 2, 3):
        ledger.note("a", position, 1, 1, Counter(), False)
    ledger.note("b", 1, 1, 0, Counter(bad=1), False)
    ledger.note("b", 2, 1, 1, Counter(), False)
    assert ledger.settle(1)["a"].entered == 1 and funnel["b"].lost == Counter(bad=1) and funnel["b"].left == 0
    assert ledger.settle(2)["b"].left == 1 and funnel["a"].entered == 2
    assert ledger.settle(9)["a"].entered == 3 and funnel["b"].entered == 2
