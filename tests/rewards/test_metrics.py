"""Metrics against brute force and against numbers that others published."""

import itertools
from math import exp, log

import pytest
from kengine import rewards
from kengine.errors import InfraError, UsageError
from kengine.rewards import metrics


def chance(good: list[bool], k: int) -> float:
    """Share of all draws of k that hold a good one."""
    draws = list(itertools.combinations(good, k))
    return sum(any(draw) for draw in draws) / len(draws)


def test_the_estimator_is_the_share_of_draws() -> None:
    for n in range(1, 8):
        for c in range(n + 1):
            for k in range(1, n + 1):
                good = [True] * c + [False] * (n - c)
                assert metrics.unbiased_at_k(n, c, k) == pytest.approx(chance(good, k), abs=1e-12)


def test_the_estimator_does_not_break_on_many() -> None:
    assert metrics.unbiased_at_k(200, 1, 100) == pytest.approx(0.5)
    assert metrics.unbiased_at_k(5000, 5000, 1) == 1.0
    assert metrics.unbiased_at_k(5000, 0, 5000) == 0.0


@pytest.mark.parametrize(
    ("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6), (0, 0, 1), (5.0, 2, 1), (5, True, 1)]
)
def test_counts_that_make_no_sense(n, c, k) -> None:
    with pytest.raises(UsageError):
        metrics.unbiased_at_k(n, c, k)


@pytest.fixture
def groups(verdict):
    """Two tasks: four and two judged candidates, and some that count nowhere."""
    return [
        [verdict("passed", 3.0), verdict("passed", 0.5, label="slower"), verdict("wrong_result"),
         verdict("compile_failed"), None, InfraError("lost")],
        [verdict("too_slow", 0.9, label="slower"), verdict("sham"), verdict("unsupported")],
    ]  # fmt: skip


def test_at_k_over_tasks(groups) -> None:
    assert metrics.comp_at_k(groups, 1) == pytest.approx((3 / 4 + 1 / 2) / 2)
    assert metrics.corr_at_k(groups, 1) == pytest.approx((2 / 4 + 1 / 2) / 2)
    assert metrics.pass_at_k(groups, 1) == pytest.approx((2 / 4 + 0) / 2)
    assert metrics.corr_at_k(groups, 2) == pytest.approx((5 / 6 + 1) / 2)
    assert metrics.speed_at_k(groups, 1) == pytest.approx((1 / 4 + 0) / 2)
    assert metrics.speed_at_k(groups, 2) == pytest.approx((3 / 6 + 0) / 2)
    assert metrics.speed_at_k(groups, 1, p=0.4) == pytest.approx((2 / 4 + 1 / 2) / 2)


def test_too_few_candidates(groups) -> None:
    with pytest.raises(UsageError, match="3 of 2 candidates cannot be drawn"):
        metrics.corr_at_k(groups, 3)
    with pytest.raises(UsageError, match="of 0 candidates"):
        metrics.corr_at_k([*groups, [None]], 1)
    with pytest.raises(UsageError, match="no candidate was judged"):
        metrics.corr_at_k([[None], [InfraError("lost")]], 1)
    with pytest.raises(UsageError, match="no candidate was judged"):
        metrics.fast_p([])


def test_the_best_of_k(groups) -> None:
    first = [0.0, 0.0, 0.5, 3.0]
    draws = [max(d) for d in itertools.combinations(first, 2)]
    assert metrics.best_speedup_at_k(groups, 2) == pytest.approx((sum(draws) / len(draws) + 0.9) / 2)
    assert metrics.best_speedup_at_k(groups, 1) == pytest.approx((3.5 / 4 + 0.9 / 2) / 2)


def test_unclear_is_not_faster_but_is_right(verdict, unclear) -> None:
    group = [[unclear, verdict("passed", 0.5, label="slower")]]
    assert metrics.speed_at_k(group, 1) == 0.0
    assert metrics.corr_at_k(group, 1) == 1.0
    assert metrics.fast_p(group[0], 0) == 1.0 and metrics.fast_p(group[0], 0.4) == 0.5
    assert metrics.speedups(group) == [pytest.approx((1.5 * 0.5) ** 0.5)]


def test_fast_p_as_kernelbench_counts(verdict) -> None:
    """Section 3.3: of ten kernels eight are right, and two of those are faster: fast_0 is 0.8, fast_1 is 0.2."""
    ten = [verdict("passed", s) for s in (1.5, 1.2, 1.0, 0.9, 0.8, 0.7, 0.6, 0.5)] + [verdict("wrong_result")] * 2
    assert metrics.fast_p(ten, 0) == 0.8
    assert metrics.fast_p(ten, 1) == 0.2
    assert metrics.fast_p(ten, 1.2) == 0.1
    assert metrics.fast_p(ten, 1) == sum(rewards.fast_p(v) for v in ten) / 10


def test_emulated_verdicts_have_no_speed_but_are_right(verdict) -> None:
    emulated = [[verdict("passed", emulated=True)]]
    assert metrics.corr_at_k(emulated, 1) == 1.0 and metrics.fast_p(emulated[0], 0) == 1.0
    for metric in (metrics.speed_at_k, metrics.best_speedup_at_k):
        with pytest.raises(UsageError, match="is an emulator"):
            metric(emulated, 1)
    with pytest.raises(UsageError, match="is an emulator"):
        metrics.fast_p(emulated[0], 1)


def test_self_referenced_verdicts_are_not_scored(verdict) -> None:
    own = [[verdict("passed", 1.0, self_referenced=True)]]
    with pytest.raises(UsageError, match="self-referenced"):
        metrics.corr_at_k(own, 1)
    assert metrics.corr_at_k(own, 1, allow_self_referenced=True) == 1.0


def test_speedups_by_task(groups) -> None:
    assert metrics.speedups(groups) == pytest.approx([(3.0 * 0.5) ** 0.5, 0.9])


def test_the_geometric_mean() -> None:
    assert metrics.geometric_mean([0.5, 2.0]).value == pytest.approx(1.0)
    one = metrics.geometric_mean([1.7])
    assert one.value == one.low == one.high == pytest.approx(1.7) and one.count == 1


def test_its_interval_covers_as_often_as_it_says() -> None:
    """95 % intervals for 60 draws of a known distribution; 300 of them hold the truth about 285 times."""
    import numpy as np

    draw = np.random.default_rng(5)
    held = 0
    for n in range(300):
        sample = np.exp(draw.normal(log(1.3), 0.4, 60)).tolist()
        interval = metrics.geometric_mean(sample, resamples=400, seed=n)
        assert interval.low <= interval.value <= interval.high
        held += interval.low <= 1.3 <= interval.high
    assert 270 <= held <= 297


def test_its_interval_is_the_normal_one_for_many_and_repeats() -> None:
    import numpy as np

    logs = np.random.default_rng(1).normal(0.2, 0.5, 4000)
    interval = metrics.geometric_mean(np.exp(logs).tolist(), resamples=2000)
    half = 1.96 * logs.std() / 4000**0.5
    assert interval.low == pytest.approx(exp(logs.mean() - half), rel=2e-3)
    assert interval.high == pytest.approx(exp(logs.mean() + half), rel=2e-3)
    assert interval == metrics.geometric_mean(np.exp(logs).tolist(), resamples=2000)
    wide = metrics.geometric_mean(np.exp(logs[:50]).tolist(), confidence=0.99)
    narrow = metrics.geometric_mean(np.exp(logs[:50]).tolist(), confidence=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    ("values", "more", "part"),
    [
        ([], {}, "no speed-up"),
        ([1.0, 0.0], {}, r"values\[1\]: want a speed-up above 0"),
        ([-1.0], {}, "above 0"),
        ([float("nan")], {}, "finite number"),
        ([1.0], {"confidence": 1.0}, "confidence"),
        ([1.0], {"resamples": 0}, "resamples"),
    ],
)
def test_means_that_make_no_sense(values, more, part) -> None:
    with pytest.raises(UsageError, match=part):
        metrics.geometric_mean(values, **more)


def test_a_score_holds_everything(verdict) -> None:
    verdicts = [
        verdict("passed", 2.0, task="a"), verdict("wrong_result", task="a"),
        verdict("passed", 0.5, task="b"), verdict("passed", 0.5, task="b"), verdict("unsupported", task="c"),
    ]  # fmt: skip
    score = rewards.score(verdicts, ks=(1, 2))
    assert (score.tasks, score.candidates, score.left_out, score.fewest, score.timed) == (2, 4, 1, 2, True)
    assert score.corr == {1: 0.75, 2: 1.0} and score.speed == {1: 0.25, 2: 0.5}
    assert score.fast == {0.0: 0.75, 1.0: 0.25, 2.0: 0.0}
    assert score.speedup is not None and score.speedup.value == pytest.approx(1.0) and score.speedup.count == 2
    plain = rewards.score(verdicts, speed=False)
    assert plain.speedup is None and plain.speed == {} and plain.corr == {1: 0.75}


def test_a_score_without_timing(verdict) -> None:
    score = rewards.score([verdict("passed", emulated=True), verdict("wrong_result", emulated=True)])
    assert not score.timed and score.fast == {} and score.passed == {1: 0.5}
    with pytest.raises(UsageError, match="is an emulator"):
        rewards.score([verdict("passed", emulated=True)], speed=True)


def test_scores_that_make_no_sense(verdict) -> None:
    with pytest.raises(UsageError, match="want verdicts on one target, got triton:interpret, triton:sm_90"):
        rewards.score([verdict("passed", 1.0), verdict("passed", emulated=True)])
    with pytest.raises(UsageError, match="got none"):
        rewards.score([])
    with pytest.raises(UsageError, match="task 'add' has 1 judged candidates"):
        rewards.score([verdict("passed", 1.0)], ks=(2,))
    with pytest.raises(UsageError, match="nothing to score"):
        rewards.score([verdict("unsupported")])
