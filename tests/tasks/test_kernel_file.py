"""Tasks that are CUDA or HIP files: what their blocks must say, and that a judge can run them."""

from __future__ import annotations

import importlib.util

import pytest
from kengine.errors import TaskError
from kengine.tasks import parse_task

TASK = """// /// kengine
// name = "triple"
// grid = "ceil_div(n, 64)"
// block = 64
// inputs = ["x"]
// outputs = ["y"]
// sizes = { n = "x.numel()" }
// params = { N = 100 }
// [arrays.x]
// dtype = "float32"
// shape = ["N"]
// [arrays.y]
// shape = ["n"]
// [[cases]]
// N = 65
// ///
__global__ void triple(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 3.0f * x[i];
}
"""


def test_it_reads_as_a_task_of_the_usual_form() -> None:
    task = parse_task(TASK, "triple.hip")
    assert (task.name, task.form, task.path, task.self_referenced) == ("triple", "function", "triple.hip", False)
    assert [case.name for case in task.spec.cases] == ["N=65", "N=65 large", "N=65 tiny"]
    assert "def make_inputs(seed, device, N=100):" in task.source and "def reference(x):" in task.source


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("// /// kengine", "// kengine", "needs a block"),
        ('// inputs = ["x"]\n', "", "inputs: want a list of names"),
        ('// inputs = ["x"]', '// inputs = ["z"]', "no table [arrays.z]"),
        ('// dtype = "float32"', '// dtype = "float31"', "'float31'; allowed"),
        ('// shape = ["n"]', '// shape = "n"', "y.shape: want a list"),
        ("// block = 64", "// blocks = 64", "unknown key; did you mean 'block'?"),
        ("{ N = 100 }", '{ N = "100" }', "not a name with a number"),
    ],
)
def test_what_is_wrong_with_the_block_is_said(old, new, part) -> None:
    assert old in TASK
    with pytest.raises(TaskError) as caught:
        parse_task(TASK.replace(old, new), "triple.hip")
    assert part in str(caught.value) and "triple.hip" in str(caught.value)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
def test_its_kernels_are_the_reference(tmp_path, monkeypatch) -> None:
    import torch
    from kengine.native import cache

    monkeypatch.setattr(cache, "parts_folder", lambda: tmp_path)
    space: dict = {}
    exec(parse_task(TASK, "triple.hip").source, space)
    (x,) = space["make_inputs"](7, "cpu", N=70)
    (again,) = space["make_inputs"](7, "cpu", N=70)
    assert x.shape == (70,) and torch.equal(x, again)
    assert torch.equal(space["reference"](x), 3 * x)
    with pytest.raises(TypeError, match=r"take x as torch\.float32, not torch\.float64"):
        space["reference"](x.double())
