"""Operators of the facade of CuPy in a followed call."""

from __future__ import annotations

from typing import Any

import pytest
from kengine.model import Mode
from native_inputs import make_inputs
from watch_support import Seen, followed

torch = pytest.importorskip("torch")

HEAD = '''import cupy as cp
import numpy as np
import torch

COPY = cp.RawKernel(r"""
extern "C" __global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
""", "copy")
DOUBLE = cp.ElementwiseKernel("float32 x", "float32 y", "y = x * 2", "double_it")
TOTAL = cp.ReductionKernel("float32 x", "float32 y", "x", "a + b", "y = a", "0", "total")

def as_torch(array):
    return torch.from_dlpack(array)

def through_copy(value):
    value = cp.ascontiguousarray(value)
    y = cp.empty_like(value)
    COPY((4,), (64,), (value, y, value.size))
    return as_torch(y)

def candidate(x, w):
    a, b = cp.from_dlpack(x), cp.from_dlpack(w)
    return BODY
'''
X, W = torch.rand(8, 8), torch.rand(8, 8)


def look(session: Any, body: str) -> Seen:
    loaded = session(HEAD.replace("BODY", body))
    inputs = make_inputs(X, W)
    return followed(inputs, lambda: loaded.call(inputs, Mode.traced))


@pytest.mark.parametrize(
    "body, expected, operators",
    [
        ("through_copy(a @ b)", X @ W, {"cupy::matmul": 1}),
        ("through_copy(cp.dot(a, b))", X @ W, {"cupy::dot": 1}),
        ("through_copy(a.dot(b))", X @ W, {"cupy::dot": 1}),
        ("through_copy(np.dot(a, b))", X @ W, {"cupy::dot": 1}),
        ("through_copy(cp.matmul(a, b) + a)", X @ W + X, {"cupy::matmul": 1, "cupy::add": 1}),
        ("through_copy(cp.exp(a).sum(axis=0))", X.exp().sum(0), {"cupy::exp": 1, "cupy::sum": 1}),
        ("through_copy(np.add.reduce(a, axis=0))", X.sum(0), {"cupy::add.reduce": 1}),
        ("through_copy(cp.einsum('ij,jk->ik', a, b))", X @ W, {"cupy::einsum": 1}),
        ("as_torch(a * 2)", X * 2, {"cupy::multiply": 1}),
    ],
)
def test_operators_have_the_name_of_cupy(session: Any, body: str, expected: Any, operators: dict[str, int]) -> None:
    seen = look(session, body)
    assert torch.allclose(seen.value, expected, atol=1e-5)
    assert seen.operators == operators
    assert seen.origins == [(True, "copy" in body, False)]


@pytest.mark.parametrize("moved", ["a.T", "a[::2, 1:]", "a[[3, 1]]", "cp.concatenate([a, b])", "cp.pad(a, 1)",
                                   "a.astype(cp.float64).astype(cp.float32)", "cp.asarray(a.get())"])  # fmt: skip
def test_movement_is_followed_and_no_work(session: Any, moved: str) -> None:
    seen = look(session, f"through_copy({moved})")
    assert seen.operators == {} and seen.kernels == {"copy": 1}
    assert seen.origins == [(True, True, False)] and seen.facts.foreign_bytes == 0


def test_a_product_costs_what_its_products_do(session: Any) -> None:
    from kengine.native.cupy.record import flops

    assert flops([64 * 128, 128 * 32], 64 * 32) == 2 * 64 * 128 * 32
    assert flops([5], 1) == 0 and flops([5, 5], 1) == 2 * 5
    loaded = session(HEAD.replace("BODY", "through_copy(a @ b)"))
    inputs = make_inputs(torch.rand(256, 256), torch.rand(256, 256))
    seen = followed(inputs, lambda: loaded.call(inputs, Mode.traced))
    assert seen.facts.operators[0].cost == 2 * 256**3 // 10


def test_an_assignment_carries_its_origin(session: Any) -> None:
    body = "[y := cp.zeros_like(a), y.__setitem__(slice(None), a), y.__iadd__(b), as_torch(y)][-1]"
    seen = look(session, body)
    assert torch.equal(seen.value, X + W)
    assert seen.operators == {"cupy::add": 1} and seen.origins == [(True, False, False)]


def test_generated_kernels_are_kernels(session: Any) -> None:
    seen = look(session, "as_torch(DOUBLE(a.T))")
    assert torch.equal(seen.value, 2 * X.T)
    assert seen.kernels == {"double_it": 1} and seen.operators == {} and seen.origins == [(True, True, False)]
    seen = look(session, "as_torch(TOTAL(a, axis=1))")
    assert torch.allclose(seen.value, X.sum(1))
    assert seen.kernels == {"total": 1} and seen.operators == {} and seen.origins == [(True, True, False)]


def test_arrays_answer_as_before(session: Any) -> None:
    body = """(as_torch(cp.sort(a)), as_torch(a.max(axis=1)), float(a.sum()), cp.where(a > 0.5, a, 0).shape,
            type(a[0]).__module__, type(a + 1).__name__, (a + 1).dtype.name, cp.maximum(a, b, out=b) is b,
            cp.size(a))"""
    value = look(session, body).value
    assert torch.equal(value[0], X.sort().values) and torch.equal(value[1], X.amax(1))
    assert value[2] == pytest.approx(float(X.sum())) and value[3] == (8, 8)
    assert value[4:8] == ("kengine.native.cupy.arrays", "ndarray", "float32", True) and int(value[8]) == 64
