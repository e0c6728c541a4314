"""Numpy tasks that give the kernel another layout and turn its answer back, and the margin of an exact emulator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from kengine.judge.tolerance import tighten
from kengine.model import Tolerance

TASK = """
import numpy as np

def get_inputs():
    return [np.random.normal(size=(256, 48)).astype(np.float32), 1e-5,
            np.random.normal(size=(48,)).astype(np.float32)]

def forward(x, eps, gain):
    return x / np.sqrt(np.mean(x ** 2, axis=-1, keepdims=True) + eps) * gain

def transform_to_nki_inputs(inputs):
    return [np.reshape(inputs[0], (128, 2, 48)), inputs[1], inputs[2]]

def transform_nki_outputs(result, expected):
    if not isinstance(result, tuple):
        result = (result,)
    return [np.reshape(r, expected.shape) for r in result]
"""


def normalise(x: Any, eps: float, gain: Any) -> Any:
    assert x.shape == (128, 2, 48) and eps == 1e-5
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(eps)) * gain


def test_the_kernel_sees_its_own_layout_and_its_answer_is_turned_back(bench, make_task):
    bench.open(make_task(TASK, "numpy"), screen=True)
    assert bench.opened["ok"], bench.opened
    assert bench.opened["arity"] == 3
    assert all(c.ok for c in bench.run_all(normalise).values())
    assert bench.run(lambda *a: (normalise(*a),)).ok


def test_a_wrong_answer_is_wrong_at_the_place_in_the_references_layout(bench, make_task):
    bench.open(make_task(TASK, "numpy"), cases=1)

    def spoilt(*args):
        out = normalise(*args)
        out[100, 1, 7] += 1.0
        return out

    c = bench.run(spoilt)
    assert not c.ok and c.wrong == 1 and c.worst.index == (201, 7)
    assert not bench.run(lambda *a: np.ascontiguousarray(normalise(*a).transpose(1, 0, 2))).ok


@pytest.mark.parametrize(
    ("change", "telling"),
    [
        (lambda out: out[:64], "transform_nki_outputs cannot use what came back (float32[64, 2, 48]): ValueError"),
        (lambda out: out.astype(np.float16), "has dtype float16, expected float32"),
        (lambda out: np.concatenate([out, out, out]), "did not fit into the memory for it, 2 times the size"),
        (lambda out: (out, out), "2"),
        (lambda out: None, "transform_nki_outputs cannot use what came back (no array)"),
        (lambda out: "right", "transform_nki_outputs cannot use what came back (no array)"),
    ],
)
def test_what_cannot_be_turned_back_is_wrong_and_says_why(bench, make_task, change, telling):
    bench.open(make_task(TASK, "numpy"), cases=1)
    c = bench.run(lambda *a: change(normalise(*a)))
    assert not c.ok and telling in c.problem


def test_a_padded_answer_fits(bench, make_task):
    source = TASK.replace("np.reshape(r, expected.shape)", "np.reshape(r[:, :, :48], expected.shape)")
    bench.open(make_task(source, "numpy"), cases=1)
    assert bench.run(lambda *a: np.pad(normalise(*a), ((0, 0), (0, 0), (0, 16)))).ok


def test_a_description_larger_than_its_memory_is_no_fault_of_the_machine(bench, make_task):
    bench.open(make_task(TASK, "numpy"), cases=1)
    (lent,) = bench.lend(0)
    outputs = lent.describe([normalise(*lent.args)])
    outputs[0]["spec"]["shape"] = [1 << 20, 2, 48]
    answer = bench.compare(0, outputs)
    assert answer["ok"] and not answer["comparison"]["ok"]
    assert "is larger than the memory that holds it" in answer["comparison"]["problem"]


def test_a_written_input_is_noticed(bench, make_task):
    bench.open(make_task(TASK, "numpy"), cases=1)

    def writes(x, eps, gain):
        out = normalise(x, eps, gain)
        x[0] = 0
        return out

    c = bench.run(writes)
    assert not c.ok and c.mutated == ("arg 0",)


def test_the_reference_keeps_its_own_inputs(bench, make_task):
    """What the task makes for the kernel may be the very arrays: writing them must not change the reference's."""
    source = TASK.replace("np.reshape(inputs[0], (128, 2, 48))", "inputs[0]")
    bench.open(make_task(source, "numpy"), cases=1)

    def writes(x, eps, gain):
        x *= 2
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True)) * gain

    assert bench.run(writes).mutated == ("arg 0",)
    assert bench.run(lambda x, e, g: x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(e)) * g).ok


@pytest.mark.parametrize(
    ("old", "new", "telling"),
    [
        ("(128, 2, 48)), inputs[1]", "(128, 3, 48)), inputs[1]", "transform_to_nki_inputs raised: ValueError"),
        ("return [np.reshape(inputs[0], (128, 2, 48)), inputs[1], inputs[2]]", "return None", "it returned NoneType"),
    ],
)
def test_a_broken_transform_is_the_tasks_fault(bench, make_task, old, new, telling):
    assert old in TASK
    answer = bench.open(make_task(TASK.replace(old, new), "numpy"))
    assert not answer["ok"] and answer["error"] == "task" and telling in answer["message"]


def test_writes_and_a_transform_exclude_each_other(bench, make_task):
    answer = bench.open(make_task(TASK, "numpy", writes=("x",)))
    assert not answer["ok"] and "leave one of the two out" in answer["message"]


def test_an_exact_emulator_is_held_to_what_its_chip_leaves_of_rtol():
    tight, note = tighten(Tolerance(rtol=2e-5), 1.46e-5)
    assert tight.rtol == pytest.approx(math.sqrt(4e-10 - 1.46e-5**2)) == pytest.approx(1.367e-5, rel=1e-3)
    assert note.startswith("rtol 2e-05 is judged as 1.37e-05")
    assert tighten(Tolerance(rtol=1e-2), 1.46e-5) == (Tolerance(rtol=1e-2), "")
    assert tighten(Tolerance(), 1.46e-5) == (Tolerance(), "")
    assert tighten(Tolerance(rtol=2e-5), 0.0) == (Tolerance(rtol=2e-5), "")
    same, note = tighten(Tolerance(rtol=1e-5), 1.46e-5)
    assert same.rtol == 1e-5 and "may fail on the chip" in note


def test_the_margin_decides_and_the_verdict_says_so(bench, make_task):
    source = TASK[: TASK.index("def transform_to")]
    task = make_task(source, "numpy", tolerance=Tolerance(rtol=2e-5))

    def off(x, eps, gain):
        return (x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(eps)) * gain) * np.float32(1 + 1.7e-5)

    bench.open(task, cases=1)
    assert bench.run(off).ok and bench.opened["notes"] == []
    from kengine import codec

    body = {"task": codec.to_json(task), "salt": "5a" * 16, "device": "cpu", "cases": 1, "screen": False}
    bench.opened, _ = bench.ask("open", **body, chip_error=1.46e-5)
    assert bench.opened["ok"] and bench.opened["notes"] == [tighten(task.spec.tolerance, 1.46e-5)[1]]
    assert not bench.run(off).ok
    bad, _ = bench.ask("open", **body, chip_error="x")
    assert not bad["ok"] and bad["error"] == "usage"
