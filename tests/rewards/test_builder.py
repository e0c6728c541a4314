"""A reward of one's own."""

import pickle

import pytest
from kengine import rewards
from kengine.errors import UsageError
from kengine.rewards import Reward


def doubled(s: float) -> float:
    return 2 * s


def broken(s: float) -> float:
    return float("nan")


@pytest.mark.parametrize(
    ("own", "preset"),
    [
        (Reward(correct=0.3, speed=1.0, high=1e9), rewards.kevin),
        (Reward(correct=0.3, speed=1.0), rewards.kernelbench_tinker),
        (Reward(correct=0.3, speed=1.0, bonuses=((1.1, 0.3),)), rewards.amd_hip),
        (Reward(compiled=0.1, correct=0.4, speed=0.25, shape="log2", high=2.0), rewards.staged),
        (Reward(correct=0.0, bonuses=((1.0, 1.0),)), rewards.fast_p),
        (Reward(correct=0.3, speed=0.5, shape="gain", low=-1, high=9, failed=-0.3), None),
    ],
)
def test_it_can_say_what_the_published_ones_say(own, preset, verdict) -> None:
    assert own.asks_speed
    for status, speedup in (("passed", 0.5), ("passed", 1.0), ("passed", 1.7), ("passed", 4.0), ("wrong_result", None)):
        if preset is not None:
            expected = preset(verdict(status, speedup))
        else:
            expected = 0.3 + 0.5 * (speedup - 1) if speedup else -0.3
        assert own(verdict(status, speedup)) == pytest.approx(expected, rel=1e-12)


def test_each_term(verdict) -> None:
    assert Reward(compiled=0.1)(verdict("wrong_result")) == 0.1
    assert Reward(compiled=0.1)(verdict("passed", emulated=True)) == 1.1
    assert Reward(failed=-1.0)(verdict("compile_failed")) == -1.0
    assert Reward(statuses={"timed_out": -0.5}, compiled=0.1)(verdict("timed_out")) == -0.5
    assert Reward(covered=0.5)(verdict("passed", coverage=0.5)) == 1.25
    assert Reward(covered=0.5, default_coverage=0.0)(verdict("passed")) == 1.0
    assert Reward(speed=1.0, shape=doubled, high=100.0)(verdict("passed", 3.0)) == 7.0
    assert Reward(speed=1.0, shape="ln", low=-1.0)(verdict("passed", 0.0)) == 0.0
    assert Reward()(None) is None and Reward()(verdict("unsupported")) is None


def test_integrity_failures_stay_unpraised(verdict) -> None:
    assert Reward(failed=0.5)(verdict("sham")) == 0.0
    assert Reward(failed=-0.5)(verdict("sham")) == -0.5
    assert Reward(statuses={"sham": -2.0})(verdict("sham")) == -2.0
    with pytest.raises(UsageError, match="an integrity failure is never positive"):
        Reward(statuses={"tampered": 0.1})


def test_unclear_speed(verdict) -> None:
    unclear = verdict("passed", 3.0, label="unclear")
    assert Reward(speed=1.0)(unclear) == 1.0
    assert Reward(speed=1.0, shape="gain", low=-1.0)(unclear) == 1.0
    assert Reward(speed=1.0, shape="gain", low=-1.0, unclear=0.0)(unclear) == 0.0
    assert Reward(bonuses=((1.0, 5.0),))(unclear) == 1.0


def test_it_goes_to_a_worker(verdict) -> None:
    own = Reward(speed=1.0, shape=doubled, high=100.0, statuses={"crashed": -1.0}, bonuses=[[2, 1]])
    again = pickle.loads(pickle.dumps(own))
    assert again == own and again.bonuses == ((2, 1),)
    assert again(verdict("passed", 3.0)) == own(verdict("passed", 3.0)) == 8.0


@pytest.mark.parametrize(
    ("parameters", "part"),
    [
        ({"correct": float("nan")}, "correct: want a finite number"),
        ({"failed": float("inf")}, "failed: want a finite number"),
        ({"compiled": "1"}, "compiled: want"),
        ({"low": 2.0, "high": 1.0}, "low: 2 lies above high"),
        ({"shape": "log10"}, "'log10' is none of linear, gain, log2, ln"),
        ({"shape": lambda s: s}, "at the top level of a module"),
        ({"statuses": {"pased": 1.0}}, "'pased' is no status"),
        ({"statuses": {"passed": None}}, "statuses"),
        ({"bonuses": (1.0,)}, "want pairs"),
        ({"bonuses": ((1.0, float("nan")),)}, "bonuses: want a finite number"),
    ],
)
def test_what_makes_no_sense_is_refused_when_it_is_built(parameters, part) -> None:
    with pytest.raises(UsageError, match=part):
        Reward(**parameters)


def test_a_shape_must_give_numbers(verdict) -> None:
    with pytest.raises(UsageError, match="shape gives nan for a speed-up of 2"):
        Reward(speed=1.0, shape=broken)(verdict("passed", 2.0))


def test_speed_on_an_emulator_is_refused(verdict) -> None:
    with pytest.raises(UsageError, match="is an emulator"):
        Reward(speed=1.0)(verdict("passed", emulated=True))
    with pytest.raises(UsageError, match="is an emulator"):
        Reward(bonuses=((1.0, 1.0),))(verdict("wrong_result", emulated=True))
