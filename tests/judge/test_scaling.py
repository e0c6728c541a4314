"""Whether a reference scales with its inputs: asked in every dtype that it may answer in."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from kengine.judge import scaling  # noqa: E402

TASK = """
import torch
def make_inputs(seed, device):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(8, 16, generator=g)]
def reference(x):
    return (x * x).sum(1).to(torch.{dtype})
"""


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_reference_that_ends_in_a_cast_can_be_opened_and_compared_with(bench, make_task, dtype):
    bench.open(make_task(TASK.format(dtype=dtype)))
    found = bench.run_all(lambda x: (x * x).sum(1).to(getattr(torch, dtype)))
    assert len(found) > 2 and {name: each.problem for name, each in found.items() if not each.ok} == {}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16"])
def test_values_on_the_host(dtype):
    values = scaling._host(torch.tensor([1.5, -2.0], dtype=getattr(torch, dtype)))
    assert values.dtype == np.float64 and values.tolist() == [1.5, -2.0]


@pytest.mark.parametrize(("power", "follows"), [(1, True), (2, True), (0, True), (0.5, False)])
def test_powers_of_the_scale(power, follows):
    exact = np.array([1.0, -2.0, 3.0])
    assert scaling._follows(exact, exact * 8.0**power, 8.0) == follows
