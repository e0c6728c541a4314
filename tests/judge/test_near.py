"""Inputs that are nearly those of the call before."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.judge import near
from kengine.judge.inputs import Drawn

DOUBLE = (
    "import torch\ndef make_inputs(seed, device):\n    g = torch.Generator().manual_seed(seed)\n"
    "    return [{inputs}]\ndef reference(x):\n    return {body}\n"
)


def altered(array, phase, seed=3):
    drawn = Drawn([array.copy()])
    near.alter(drawn, Drawn([np.full_like(array, 7)]), seed, phase)
    return drawn.args[0]


@pytest.mark.parametrize("shape", [(4096,), (64, 64), (9, 77), (3, 5, 7)])
def test_swapped_inputs_keep_sum_ends_and_most_of_the_rest(shape):
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    y = altered(x, "fresh~swapped")
    flat, changed = x.reshape(-1), y.reshape(-1)
    places = np.flatnonzero(flat != changed)
    assert 2 <= len(places) <= len(flat) // 6
    assert sorted(flat) == sorted(changed)
    assert list(flat[:3]) == list(changed[:3]) and list(flat[-3:]) == list(changed[-3:])
    # every sample at a stride of an 64th is what it was
    step = max(len(flat) // 64, 1)
    assert step < 4 or list(flat[::step]) == list(changed[::step])


def test_a_pair_in_each_others_places_is_all_that_differs():
    x = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
    y = altered(x, "fresh~pair")
    first, second = np.flatnonzero(x.reshape(-1) != y.reshape(-1))
    assert x.reshape(-1)[first] == y.reshape(-1)[second] and x.reshape(-1)[second] == y.reshape(-1)[first]


def test_a_pair_of_a_large_array_is_found_without_a_list_of_its_places(monkeypatch):
    x = np.arange(4096.0, dtype=np.float32)
    monkeypatch.setattr(near, "_LISTED", 1000)
    for seed in range(20):
        y = altered(x, "fresh~pair", seed)
        first, second = np.flatnonzero(x != y)
        assert 16 <= first < second < 4096 - 16 and first % 64 and second % 64
        assert (y[first], y[second]) == (second, first)
    assert (altered(x, "fresh~pair", 3) == altered(x, "fresh~pair", 3)).all()
    assert (altered(x, "fresh~pair", 3) != altered(x, "fresh~pair", 4)).any()


def test_changed_inputs_hold_values_of_another_draw():
    x = np.zeros((32, 32), np.float32)
    y = altered(x, "fresh~changed")
    assert set(y.reshape(-1)) == {0.0, 7.0} and 2 <= (y == 7).sum() <= 128


def test_integers_and_very_small_arrays_stay():
    assert altered(np.arange(100), "fresh~swapped").tolist() == list(range(100))
    assert altered(np.arange(3.0), "fresh~swapped").tolist() == [0, 1, 2]


def test_arrays_with_strides_are_altered_in_place():
    base = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float32)
    drawn = Drawn([base.T])
    before = base.copy()
    near.alter(drawn, Drawn([base.T]), 5, "fresh~swapped")
    assert (base != before).sum() >= 2


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.randn(16, 32)
    drawn = Drawn([x.clone()])
    near.alter(drawn, Drawn([torch.zeros(16, 32)]), 5, "fresh~swapped")
    assert 2 <= int((drawn.args[0] != x).sum()) <= 64
    assert torch.equal(drawn.args[0].flatten().sort().values, x.flatten().sort().values)


def test_phases():
    assert near.base("fresh~swapped") == near.base("fresh~changed") == "fresh"
    assert near.base("fresh") is None and near.base("fresh~swapped/other") is None


def test_the_same_once_more_is_the_same(bench, make_task):
    assert near.base("check~pair") == "check" and near.base("check~same") is None
    assert near.shared("check~same") == near.shared("check~same~same") == near.shared("check") == "check"
    pytest.importorskip("torch")
    bench.open(make_task(DOUBLE.format(inputs="torch.randn(64, 64, generator=g)", body="x * 2")), cases=1)
    for phase in ("check", "fresh", "fresh~pair"):
        (one,) = bench.lend(0, phase=phase)
        before = one.args[0].clone()
        (again,) = bench.lend(0, phase=phase + "~same")
        assert (before == again.args[0]).all() and before.any()
        session = bench.judge.sessions[bench.opened["task_id"]]
        case = session.cases[0]
        assert session.expected(case, phase + "~same") is session.expected(case, phase), "nothing is computed twice"


@pytest.mark.parametrize(
    ("body", "inputs", "phase"),
    [
        ("x * 2", "torch.randn(64, 64, generator=g)", "fresh~pair"),
        ("x.sum().reshape(1)", "torch.randn(64, 64, generator=g)", "fresh~changed"),
        ("x * 2", "torch.randint(0, 9, (64, 64), generator=g)", ""),
    ],
)
def test_the_judge_chooses_contents_with_another_answer(bench, make_task, body, inputs, phase):
    pytest.importorskip("torch")
    bench.open(make_task(DOUBLE.format(inputs=inputs, body=body)), cases=1)
    answer, _ = bench.ask("near", task_id=bench.opened["task_id"], case=0, phase="fresh")
    assert answer == {"ok": True, "phase": phase}
