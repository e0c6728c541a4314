"""Rewards and feedback of verdicts that the engine itself reached, on the toy backend."""

from __future__ import annotations

import pytest
import toy_items
from kengine import Engine, Plan, rewards, tasks
from kengine.errors import UsageError

WRONG = {
    "values": (
        "out[rows] = x[rows] + y[rows]",
        "out[rows] = x[rows] - y[rows]",
        "elements are wrong; the worst is output 0",
    ),
    "nan": ("out[rows] = x[rows] + y[rows]", "out[rows] = float('nan')", "NaN where the answer is finite"),
    "tail": (
        "out[rows] = x[rows] + y[rows]",
        "out[rows] = x[rows] + y[rows] * (program < 4)",
        "the tail, elements from",
    ),
    "shape": ("return out", "return out[1:]", "the output has shape [299], expected [300]"),
    "dtype": ("return out", "return out.astype('float64')", "the output has dtype float64, expected float32"),
    "form": ("return out", "return (out, out)", "the output is a tuple, expected a numpy.ndarray float32[300]"),
    "nothing": ("return out", "return None", "the output is None, expected a numpy.ndarray float32[300]"),
    "input": ("return out", "x[0] = 7\n    return out", "It wrote to"),
}
"""What is replaced in the good candidate, by what, and the words that must come of it."""


@pytest.fixture(scope="module")
def engine():
    with Engine(target="toy:cpu", plan=Plan(screen=False), workers=1) as running:
        yield running


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_without_the_answer(engine, name) -> None:
    old, new, words = WRONG[name]
    assert old in toy_items.GOOD
    verdict = engine.verify(toy_items.item(toy_items.GOOD.replace(old, new)))
    assert str(verdict.status) == "wrong_result", verdict.message
    text = rewards.write_feedback(verdict)
    assert words in text
    for comparison in verdict.stages.compare.comparisons:
        if comparison.worst is not None:
            assert comparison.worst.expected not in text
    assert rewards.correctness(verdict, compiled=0.25) == 0.25


def test_a_right_one(engine) -> None:
    verdict = engine.verify(toy_items.item(toy_items.GOOD))
    assert rewards.correctness(verdict) == 1.0 and rewards.autotriton(verdict) == 1.0
    assert "Right on 8 cases." in rewards.write_feedback(verdict)
    with pytest.raises(UsageError, match="toy:cpu is an emulator"):
        rewards.kevin(verdict)


def test_one_that_brings_its_own_reference(engine) -> None:
    verdict = engine.verify(tasks.parse(toy_items.TASK + toy_items.GOOD, "own.py"))
    with pytest.raises(UsageError, match="self-referenced"):
        rewards.correctness(verdict)
    assert rewards.correctness(verdict, allow_self_referenced=True) == 1.0


def test_a_sham_has_nothing(engine) -> None:
    verdict = engine.verify(toy_items.item(toy_items.GOOD.replace("return out", "return x + y")))
    assert str(verdict.status) == "sham", verdict.message
    assert rewards.correctness(verdict, compiled=0.25) == 0.0
    assert rewards.Reward(failed=1.0)(verdict) == 0.0
    assert "although the kernel did not run" in rewards.write_feedback(verdict)


def test_only_compiled_is_refused() -> None:
    with Engine(target="toy:cpu", plan=Plan(screen=False, check=False), workers=1) as running:
        verdict = running.verify(toy_items.item(toy_items.GOOD))
    assert verdict.passed
    with pytest.raises(UsageError, match="nothing was launched"):
        rewards.correctness(verdict)
