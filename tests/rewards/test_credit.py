"""Credit over turns and advantages within groups."""

import itertools
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine.errors import UsageError
from kengine.rewards import by_turn, group_mean, leave_one_out, pooled, returns, standardized

REWARDS = st.lists(st.floats(-10, 10), min_size=1, max_size=8)


def test_a_return_is_the_discounted_sum_of_what_follows() -> None:
    assert returns([1.0, 2.0, 4.0], gamma=0.5) == [3.0, 4.0, 4.0]
    assert returns([1.0, 2.0, 4.0], gamma=1) == [7.0, 6.0, 4.0]
    assert returns([1.0, 2.0, 4.0], gamma=0) == [1.0, 2.0, 4.0]
    assert returns([], gamma=0.4) == []


def test_normalised_is_a_mean() -> None:
    assert returns([1.0, 2.0, 4.0], gamma=0.5, normalize=True) == pytest.approx([3.0 / 1.75, 4.0 / 1.5, 4.0])
    assert returns([5.0] * 4, gamma=0.6, normalize=True) == pytest.approx([5.0] * 4)


def test_the_largest_in_place_of_the_sum() -> None:
    assert returns([1.0, 0.0, 4.0], gamma=0.4, aggregate="max") == pytest.approx([1.0, 1.6, 4.0])
    assert returns([0.5, 0.0, 4.0], gamma=0.4, aggregate="max") == pytest.approx([0.64, 1.6, 4.0])


def test_a_fault_of_the_machine_hides_what_led_to_it() -> None:
    assert returns([1.0, None, 4.0], gamma=0.5) == [None, None, 4.0]
    assert returns([1.0, 2.0, None], gamma=0.5) == [None, None, None]
    assert returns([None, 2.0, 4.0], gamma=0.5, normalize=True) == pytest.approx([None, 4.0 / 1.5, 4.0])
    assert returns([1.0, None, 4.0], gamma=0) == [1.0, None, 4.0]


@given(REWARDS, st.floats(0, 1))
def test_the_definition(rewards, gamma) -> None:
    for t, value in enumerate(returns(rewards, gamma=gamma)):
        assert value == pytest.approx(sum(gamma ** (i - t) * rewards[i] for i in range(t, len(rewards))), abs=1e-9)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan"), "0.4"])
def test_a_gamma_that_is_none(gamma) -> None:
    with pytest.raises(UsageError, match="gamma: want"):
        returns([1.0], gamma=gamma)


def test_rewards_must_be_numbers() -> None:
    with pytest.raises(UsageError, match=r"rewards\[1\]: want a finite number, got nan"):
        returns([1.0, float("nan")], gamma=0.4)
    with pytest.raises(UsageError, match=r"rewards\[0\]"):
        group_mean([float("inf"), 1.0])
    with pytest.raises(UsageError, match="normalize"):
        returns([1.0], gamma=0.4, normalize=True, aggregate="max")
    with pytest.raises(UsageError, match="neither 'sum' nor 'max'"):
        returns([1.0], gamma=0.4, aggregate="mean")


def test_the_groups_mean_without_its_deviation() -> None:
    assert group_mean([0.0, 1.0, 5.0]) == [-2.0, -1.0, 3.0]
    assert group_mean([1.0, None, 3.0]) == [-1.0, None, 1.0]
    assert group_mean([7.0]) == [0.0]
    assert group_mean([None, None]) == [None, None] and group_mean([]) == []


def test_leaving_itself_out() -> None:
    assert leave_one_out([0.0, 1.0, 5.0]) == [-3.0, -1.5, 4.5]
    assert leave_one_out([1.0, None, 3.0]) == [-2.0, None, 2.0]
    assert leave_one_out([7.0, None]) == [0.0, None]


@given(REWARDS.filter(lambda r: len(r) > 1))
def test_leaving_one_out_is_what_it_says(rewards) -> None:
    for n, advantage in enumerate(leave_one_out(rewards)):
        others = [r for m, r in enumerate(rewards) if m != n]
        assert advantage == pytest.approx(rewards[n] - statistics.fmean(others), abs=1e-9)


def test_standardized() -> None:
    assert standardized([1.0, 3.0]) == [-1.0, 1.0]
    assert standardized([0.1, 0.1, 0.1]) == [0.0, 0.0, 0.0]
    assert standardized([0.0, 0.0, None]) == [0.0, 0.0, None]
    assert standardized([0.0] * 9 + [1.0], limit=1.5)[-1] == 1.5
    assert standardized([]) == []


@given(REWARDS, st.floats(0.1, 3))
def test_standardized_stays_within_its_limit(rewards, limit) -> None:
    assert all(abs(a) <= limit for a in standardized(rewards, limit=limit))


def test_turns_are_compared_with_the_same_turn_of_the_others() -> None:
    assert by_turn([[1.0, 5.0], [3.0], [None, 1.0]]) == [[-2.0, 4.0], [2.0], [None, -4.0]]
    assert by_turn([[1.0], [3.0]], group_mean) == [[-1.0], [1.0]]
    assert by_turn([]) == [] and by_turn([[], [1.0]]) == [[], [0.0]]


def test_or_with_every_turn_of_the_group() -> None:
    assert pooled([[1.0, 5.0], [3.0]]) == [[-2.0, 2.0], [0.0]]
    assert pooled([[1.0, None], [3.0]], leave_one_out) == [[-2.0, None], [2.0]]


def test_advantages_of_a_group_cancel() -> None:
    for rewards in itertools.product((0.0, 0.3, 1.7), repeat=3):
        for baseline in (group_mean, leave_one_out, standardized):
            assert sum(baseline(list(rewards))) == pytest.approx(0.0, abs=1e-9)
