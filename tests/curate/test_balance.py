"""Caps, weights and temperature; hard cases count up only while they yield a signal."""

from __future__ import annotations

from collections import Counter

import pytest
from kengine.curate.balance import Balance, balance
from kengine.curate.record import Loss, Sample
from kengine.errors import UsageError


def corpus(**counts: int) -> list[Sample]:
    """So many samples of each category."""
    return [Sample(f"s:{c}{n}", "s", str(n), group=f"{c}{n % 5}", backend="triton", labels={"category": c, "level": 1})
            for c, number in counts.items() for n in range(number)]  # fmt: skip


def weights(samples, section: Balance, seed: int = 0) -> dict[str, set[float]]:
    found: dict[str, set[float]] = {}
    for sample in balance(samples, section, seed):
        assert isinstance(sample, Sample)
        found.setdefault(str(sample.labels["category"]), set()).add(sample.weight)
    return found


def test_nothing_asked_nothing_changed() -> None:
    samples = corpus(a=3, b=1)
    assert list(balance(samples)) == samples


def test_caps_keep_so_many_and_say_why_of_the_others() -> None:
    samples = corpus(a=50, b=20)
    out = list(balance(samples, Balance(caps={"category": {"a": 7}}), 3))
    assert [o.uid for o in out] == [s.uid for s in samples]  # in their order, none vanished
    kept = Counter(o.labels["category"] for o in out if isinstance(o, Sample))
    assert kept == {"a": 7, "b": 20}
    losses = [o for o in out if isinstance(o, Loss)]
    assert len(losses) == 43 and {x.reason for x in losses} == {"over_cap"}
    assert losses[0].detail == "at most 7 rows of category 'a' are kept, and seed 3 draws others"


def test_several_caps_hold_at_once() -> None:
    out = [o for o in balance(corpus(a=50, b=20), Balance(caps={"task": 3, "source": 12})) if isinstance(o, Sample)]
    assert len(out) == 12 and max(Counter(s.group for s in out).values()) <= 3
    assert not [o for o in balance(corpus(a=5), Balance(caps={"source": 0})) if isinstance(o, Sample)]


def test_a_cap_draws_by_seed_and_hardly_changes_when_rows_are_added() -> None:
    def kept(samples, seed: int) -> set[str]:
        return {o.uid for o in balance(samples, Balance(caps={"source": 20}), seed) if isinstance(o, Sample)}

    samples = corpus(a=100)
    assert kept(samples, 1) == kept(samples, 1) == kept(samples[::-1], 1) != kept(samples, 2)
    assert len(kept(samples, 1) & kept([*samples, *corpus(b=5)], 1)) >= 15


def test_temperature_raises_what_is_scarce() -> None:
    samples = corpus(a=64, b=16, c=1)
    assert weights(samples, Balance(by=("category",))) == {"a": {1.0}, "b": {1.0}, "c": {1.0}}
    # n^(1/2) in all: 8, 4, 1, so 8/64, 4/16, 1/1 for each row, in terms of the first
    assert weights(samples, Balance(by=("category",), temperature=2)) == {"a": {1.0}, "b": {2.0}, "c": {8.0}}
    assert weights(samples, Balance(by=("category",), temperature=2, max_weight=4))["c"] == {4.0}
    almost_equal = weights(samples, Balance(by=("category",), temperature=1e9, max_weight=100))
    assert almost_equal == {"a": {1.0}, "b": {4.0}, "c": {64.0}}


def test_cells_count_what_caps_leave() -> None:
    section = Balance(caps={"category": {"a": 16}}, by=("category",), temperature=2)
    out = [o for o in balance(corpus(a=64, b=16), section) if isinstance(o, Sample)]
    assert {o.weight for o in out} == {1.0}


def test_weights_multiply() -> None:
    section = Balance(weights={"category": {"a": 0.5}, "backend": {"triton": 3.0}})
    assert weights(corpus(a=1, b=1), section) == {"a": {1.5}, "b": {3.0}}
    (once,) = balance(corpus(a=1), section)
    (twice,) = balance([once], section)
    assert isinstance(twice, Sample) and twice.weight == 2.25


def hard(rate: float | None) -> Sample:
    labels = {"category": "a", "level": 3} | ({} if rate is None else {"pass_rate": rate})
    return Sample(f"s:{rate}", "s", "o", labels=labels)


@pytest.mark.parametrize(
    ("rate", "weight"), [(0.0, 1.0), (0.1, 1.0), (0.11, 2.0), (0.5, 2.0), (0.99, 2.0), (1.0, 1.0), (None, 2.0)]
)
def test_hard_cases_count_up_only_while_they_yield_a_signal(rate, weight) -> None:
    (by_level,) = balance([hard(rate)], Balance(weights={"level": {"3": 2.0}}, floor=0.1))
    assert isinstance(by_level, Sample) and by_level.weight == weight
    easier = [Sample(f"e:{n}", "s", "o", labels={"category": "a", "level": 1}) for n in range(4)]
    *_, by_cell = balance([*easier, hard(rate)], Balance(by=("level",), temperature=2, floor=0.1))
    assert isinstance(by_cell, Sample) and by_cell.weight == weight


def test_what_is_no_hardness_needs_no_signal_and_lowering_never_does() -> None:
    (up,) = balance([hard(1.0)], Balance(weights={"category": {"a": 2.0}}))
    (down,) = balance([hard(1.0)], Balance(weights={"level": {"3": 0.5}}))
    assert (up.weight, down.weight) == (2.0, 0.5)  # type: ignore[union-attr]


@pytest.mark.parametrize(("rate", "weight"), [(0.0, 1.0), (0.25, 2.5), (0.5, 2.0), (1.0, 1.0), (None, 1.0)])
def test_a_factor_that_grows_with_hardness(rate, weight) -> None:
    (out,) = balance([hard(rate)], Balance(hard=3.0))
    assert isinstance(out, Sample) and out.weight == weight


def test_tasks_outside_a_range_of_pass_rates_are_dropped_and_use_up_no_cap() -> None:
    samples = [hard(r) for r in (0.0, 0.05, 0.5, 1.0, None)]
    out = list(balance(samples, Balance(min_pass_rate=0.05, max_pass_rate=0.9, caps={"source": 3})))
    said = [o.reason if isinstance(o, Loss) else "kept" for o in out]
    assert said == ["too_hard", "kept", "kept", "too_easy", "kept"]
    assert isinstance(out[3], Loss) and out[3].detail == "1 of the attempts at its task passed, want at most 0.9"


@pytest.mark.parametrize(
    ("given", "said"),
    [({"caps": {"source": -1}}, "caps: source: want a number of rows"), ({"caps": {"a": {"b": "x"}}}, "got 'x'"),
     ({"caps": {"source": True}}, "got True"), ({"weights": {"a": {"b": 0.0}}}, "weights: a.b: want a factor above 0"),
     ({"temperature": 0.5}, "temperature: want at least 1"),
     ({"temperature": 2.0}, "by: temperature needs labels"),
     ({"max_weight": 0.5}, "max_weight: want at least 1"),
     ({"hard": float("inf")}, "hard: want at least 1"),
     ({"floor": 1.0}, "floor: want a pass rate"),
     ({"min_pass_rate": 0.9, "max_pass_rate": 0.1}, "min_pass_rate: want")],
)  # fmt: skip
def test_tables_that_make_no_sense(given, said) -> None:
    with pytest.raises(UsageError, match=said):
        Balance(**given)
