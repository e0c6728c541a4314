"""Kernels of Triton in a followed call: what they are given and write, and what the wrapper computes around them."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from triton_candidates import DESTINATION, HEURISTIC, NESTED, SEVERAL, TUNED

X = torch.arange(1, 1001, dtype=torch.float32)
A, B = torch.rand(16, 16), torch.rand(16, 16)

COPY = """
@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)
"""
DELEGATED = COPY + """
def candidate(a, b):
    c = {product}
    y = torch.empty_like(c)
    copy[(1,)](c, y, c.numel(), BLOCK=256)
    return y
"""


def kernels(facts: Any) -> dict[str, int]:
    return {kernel.name: kernel.count for kernel in facts.kernels}


def operators(facts: Any) -> dict[str, int]:
    return {operator.name: operator.count for operator in facts.operators}


def origins(facts: Any) -> list[tuple[bool, bool, bool]]:
    return [(origin.inputs, origin.kernels, origin.foreign) for origin in facts.outputs]


@pytest.mark.parametrize(
    "source, names",
    [(HEURISTIC, {"kernel": 1}), (NESTED, {"kernel": 1}), (SEVERAL, {"kernel": 1, "double": 3})],
    ids=["heuristics", "nested", "several"],
)
def test_kernels_write_the_answer(judge: Any, source: str, names: dict[str, int]) -> None:
    facts = judge.interpret(source, X, modes=("traced",)).facts
    assert kernels(facts) == names and operators(facts) == {}
    assert origins(facts) == [(True, True, False)] and facts.foreign_bytes == 0


def test_trial_runs_of_an_autotuner_are_launches_too(judge: Any) -> None:
    source = TUNED.replace('key=["n"]', 'key=["n"], restore_value=["x_ptr"], reset_to_zero=["y_ptr"]')
    facts = judge.interpret(source, X, modes=("traced",)).facts
    assert kernels(facts)["kernel"] >= 1 and operators(facts) == {}
    assert origins(facts) == [(True, True, False)]


def test_an_output_that_the_wrapper_is_given(judge: Any) -> None:
    answer = judge.interpret(DESTINATION, X, destination=(torch.full((1000,), float("nan")),), modes=("traced",))
    assert kernels(answer.facts) and origins(answer.facts) == [(True, True, False)]


@pytest.mark.parametrize(
    "product, expected",
    [
        ("a @ b", {"aten::mm": 1}),
        ("torch.softmax(a, 1)", {"aten::_softmax": 1}),
        ("torch.nn.functional.linear(a, b)", {"aten::mm": 1}),
        (
            "torch.from_numpy(__import__('numpy').matmul(a.cpu().numpy(), b.cpu().numpy())).to(a.device)",
            {"numpy::matmul": 1},
        ),
    ],
)
def test_work_around_a_kernel_that_copies(judge: Any, product: str, expected: dict[str, int]) -> None:
    facts = judge.interpret(DELEGATED.format(product=product), A, B, modes=("traced",)).facts
    assert operators(facts) == expected and kernels(facts) == {"copy": 1}
    assert origins(facts) == [(True, True, False)]


def test_work_in_the_function_of_a_grid_is_seen(judge: Any) -> None:
    source = COPY + """
def candidate(a, b):
    c, y = torch.empty_like(a), torch.empty_like(a)
    def grid(meta):
        torch.mm(a, b, out=c)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)
    copy[grid](c, y, c.numel(), BLOCK=256)
    return y
"""
    answer = judge.interpret(source, A, B, modes=("traced",))
    assert operators(answer.facts) == {"aten::mm": 1}
    assert torch.allclose(answer.value, A @ B)


def test_addresses_in_a_tensor(judge: Any) -> None:
    source = """
@triton.jit
def through(table, n, BLOCK: tl.constexpr):
    x = tl.load(table).to(tl.pointer_type(tl.float32))
    y = tl.load(table + 1).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

def candidate(x):
    y = torch.empty_like(x)
    table = torch.tensor([x.data_ptr(), y.data_ptr()], device=x.device)
    through[(1,)](table, x.numel(), BLOCK=1024)
    return y
"""
    answer = judge.interpret(source, X, modes=("traced",))
    assert torch.equal(answer.value, 2 * X)
    assert kernels(answer.facts) == {"through": 1} and origins(answer.facts) == [(True, True, False)]


def test_a_descriptor_brings_its_tensor(judge: Any) -> None:
    pytest.importorskip("triton.tools.tensor_descriptor", reason="this Triton has no tensor descriptors")
    source = """
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def copy(x, y, N: tl.constexpr):
    y.store([0, 0], x.load([0, 0]))

def candidate(a):
    y = torch.empty_like(a)
    n = a.shape[0]
    copy[(1,)](TensorDescriptor.from_tensor(a, [n, n]), TensorDescriptor.from_tensor(y, [n, n]), N=n)
    return y
"""
    answer = judge.interpret(source, A, modes=("traced",))
    assert torch.equal(answer.value, A)
    assert kernels(answer.facts) == {"copy": 1} and origins(answer.facts) == [(True, True, False)]


def test_an_artifact_says_which_kernels_there_are(judge: Any) -> None:
    source = COPY + """
@triton.jit
def square(x):
    return x * x

@triton.jit
def store(p, v):
    tl.store(p, v)

@triton.jit
def unused(x_ptr):
    store(x_ptr, square(tl.load(x_ptr)))

def candidate(a, b):
    y = torch.empty_like(a)
    copy[(1,)](a, y, a.numel(), BLOCK=256)
    return y
"""
    for artifact in (judge.interpret(source, A, B).artifact, judge.compile("sm_90", source, A, B).artifact):
        assert artifact.details["defined"] == ("copy", "unused")
        assert artifact.details["libraries"] == () and artifact.details["operators"] == ()
