"""All answers of a batch at once: right only if each is, and the inputs are as they were lent."""

from __future__ import annotations

import pytest
from kengine.judge import several

torch = pytest.importorskip("torch")

HEAD = """
import torch
def make_inputs(seed, device, dtype="float32"):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(16, 96, generator=g), (torch.rand(96, generator=g) + 0.5)]
"""
TASKS = {
    "close": ("def reference(x, w):\n    return torch.tanh(x) * w\n", lambda x, w: torch.tanh(x) * w),
    "exact": ("def reference(x, w):\n    return (x * w).argmax(-1)\n", lambda x, w: (x * w).argmax(-1)),
    "mask": ("def reference(x, w):\n    return x > w, x + w\n", lambda x, w: (x > w, x + w)),
    "empty": ("def reference(x, w):\n    return x[:0] * w, x - w\n", lambda x, w: (x[:0] * w, x - w)),
}


@pytest.fixture
def ask(device_bench, make_task):
    """Lend two sets of the first case, have a candidate answer each, and ask whether all is right."""

    def all_right(source, candidates, **spec):
        opened = device_bench.open(make_task(HEAD + source, **spec), cases=1)
        assert opened["ok"], opened
        lent = device_bench.lend(0, 0, phase="check")
        outputs = [each.describe([candidate(*each.args)]) for candidate, each in zip(candidates, lent)]
        judge = device_bench.judge
        session, holder = judge.sessions[opened["task_id"]], judge.holders["r1"]
        return several.all_right(session, holder, holder.places, outputs)

    return all_right


def wrong(candidate):
    def change(value):
        if isinstance(value, tuple):
            return (*value[:-1], change(value[-1]))
        value = value.clone()
        value[(-1,) * value.dim()] += 1 if value.dtype != torch.bool else True
        return value

    return lambda x, w: change(candidate(x, w))


@pytest.mark.parametrize("name", TASKS)
def test_one_wrong_answer_is_enough(ask, name):
    source, right = TASKS[name]
    assert ask(source, [right, right]) is True
    assert ask(source, [right, wrong(right)]) is False
    assert ask(source, [wrong(right), right]) is False


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_not_finite_is_wrong(ask, value):
    source, right = TASKS["close"]
    assert ask(source, [right, lambda x, w: right(x, w).index_fill(0, torch.tensor([3]), value)]) is False


def test_a_written_input_is_seen(ask):
    source, right = TASKS["close"]
    assert ask(source, [right, lambda x, w: (right(x, w), w.mul_(2))[0]]) is False


@pytest.mark.parametrize(
    "answer", [lambda x, w: None, lambda x, w: (x, w), lambda x, w: torch.tanh(x).double() * w, lambda x, w: x[:3]]
)
def test_another_form_is_wrong(ask, answer):
    source, right = TASKS["close"]
    assert ask(source, [right, answer]) is False


def test_what_is_unusual_is_left_to_the_full_comparison(ask):
    source, right = "def reference(x, w):\n    return torch.sqrt(x) * w\n", lambda x, w: torch.sqrt(x) * w
    assert ask(source, [right, right]) is False
    source = "def reference(x, w):\n    x.mul_(w)\n    return x + 1\n"
    assert ask(source, [lambda x, w: x.mul_(w) + 1] * 2, writes=("x",)) is False
