"""bfloat16 and fp8 arithmetic on the interpreter, exactly: computed in float32 and rounded to nearest even."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest
import torch

BINARY = """
@triton.jit
def kernel(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    z = {expression}
    tl.store(z_ptr + i, z)

def candidate(x, y):
    z = torch.empty(x.shape[0], dtype={dtype}, device=x.device)
    kernel[(1,)](x, y, z, BLOCK=x.shape[0])
    return z
"""

GENERATOR = torch.Generator().manual_seed(3)
X = torch.randn(64, generator=GENERATOR)
Y = torch.randn(64, generator=GENERATOR)
HALVES = [torch.bfloat16, torch.float16]
EIGHTS = [torch.float8_e5m2, torch.float8_e4m3fn]


def run(judge: Any, expression: str, x: torch.Tensor, y: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return judge.interpret(BINARY.format(expression=expression, dtype=dtype), x, y).value


@pytest.mark.parametrize("dtype", [*HALVES, *EIGHTS], ids=str)
@pytest.mark.parametrize(
    "expression, expected",
    [
        ("x + y", lambda x, y: x + y),
        ("x - y", lambda x, y: x - y),
        ("x * y", lambda x, y: x * y),
        ("-x", lambda x, y: -x),
        ("tl.abs(x)", lambda x, y: x.abs()),
        ("tl.where(x > y, x, y)", torch.maximum),
        ("tl.where(x <= y, x, y)", torch.minimum),
        ("tl.where((x == x) & (x != y), x, y)", lambda x, y: x),
    ],
    ids=lambda e: e if isinstance(e, str) else "",
)
def test_binary(judge: Any, dtype: torch.dtype, expression: str, expected: Any) -> None:
    x, y = X.to(dtype), Y.to(dtype)
    value = run(judge, expression, x, y, dtype)
    assert torch.equal(value.float(), expected(x.float(), y.float()).to(dtype).float())


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("x / y", lambda x, y: x / y),
        ("tl.maximum(x, y)", torch.maximum),
        ("tl.minimum(x, y)", torch.minimum),
        ("tl.clamp(x, -0.5, 0.5)", lambda x, y: x.clamp(-0.5, 0.5)),
        ("tl.fma(x, y, x)", lambda x, y: (x.double() * y.double() + x.double()).float()),
        ("tl.floor(x.to(tl.float32)).to(tl.bfloat16)", lambda x, y: x.floor()),
        ("tl.exp(x.to(tl.float32)).to(tl.bfloat16)", lambda x, y: x.exp()),
        ("tl.cumsum(x.to(tl.float32), 0).to(tl.bfloat16)", lambda x, y: x.cumsum(0)),
        ("x + 1.5", lambda x, y: x + 1.5),
        ("tl.sort(x)", lambda x, y: x.sort().values),
        ("tl.flip(x, 0)", lambda x, y: x.flip(0)),
        ("tl.max(x, axis=0) + tl.zeros((BLOCK,), tl.bfloat16)", lambda x, y: x.max().expand(64)),
        ("tl.min(x, axis=0) + tl.zeros((BLOCK,), tl.bfloat16)", lambda x, y: x.min().expand(64)),
        (
            "tl.max(x, axis=0, return_indices=True)[1].to(tl.float32) + 0.0 * x.to(tl.float32)",
            lambda x, y: x.argmax().float().expand(64),
        ),
        ("tl.full((BLOCK,), 2.5, tl.bfloat16) * x", lambda x, y: 2.5 * x),
    ],
    ids=lambda e: e if isinstance(e, str) else "",
)
def test_bfloat16(judge: Any, expression: str, expected: Any) -> None:
    x, y = X.to(torch.bfloat16), Y.to(torch.bfloat16)
    value = run(judge, expression, x, y, torch.bfloat16)
    assert torch.equal(value, expected(x.float(), y.float()).to(torch.bfloat16))


def test_special_values(judge: Any) -> None:
    x = torch.tensor([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 3e38, -3e38, 1e-40], dtype=torch.bfloat16)
    y = torch.tensor([1.0, -float("inf"), 1.0, -0.0, 0.0, 3e38, -3e38, 1.0], dtype=torch.bfloat16)
    value = run(judge, "x + y", x, y, torch.bfloat16)
    assert torch.equal(value.isnan(), torch.tensor([True, True] + [False] * 6))
    assert value[2:7].tolist() == [-float("inf"), 0.0, 0.0, float("inf"), -float("inf")]
    # A maximum ignores NaN on a chip.
    assert run(judge, "tl.maximum(x, y)", x, y, torch.bfloat16)[0] == 1.0


@pytest.mark.parametrize("target", [*EIGHTS, torch.bfloat16, torch.float16, torch.int32], ids=str)
@pytest.mark.parametrize("source", [torch.float32, torch.bfloat16, torch.float16, *EIGHTS, torch.int32], ids=str)
def test_cast(judge: Any, source: torch.dtype, target: torch.dtype) -> None:
    name = {
        torch.float8_e5m2: "float8e5", torch.float8_e4m3fn: "float8e4nv", torch.bfloat16: "bfloat16",
        torch.float16: "float16", torch.int32: "int32",
    }[target]  # fmt: skip
    x = (X * 40).to(source)
    if torch.int32 in (source, target) and {source, target} & set(EIGHTS):
        answer = judge.interpret(BINARY.format(expression=f"x.to(tl.{name})", dtype=target), x, x)
        assert answer.status == "compile_failed"
        assert "cannot cast" in answer.message
        return
    value = run(judge, f"x.to(tl.{name})", x, x, target)
    assert torch.equal(value.float(), x.float().to(target).float())


def test_cast_saturates_in_fp8(judge: Any) -> None:
    x = torch.tensor([1e6, -1e6, 449.0, 0.001], dtype=torch.float32)
    value = run(judge, "x.to(tl.float8e4nv)", x, x, torch.float8_e4m3fn)
    assert value.float().tolist() == [448.0, -448.0, 448.0, 0.001953125]


def test_cast_toward_zero(judge: Any) -> None:
    x = torch.tensor([1.999, -1.999, 1.0, 100.9], dtype=torch.float32)
    value = run(judge, 'x.to(tl.bfloat16, fp_downcast_rounding="rtz")', x, x, torch.bfloat16)
    assert value.float().tolist() == [1.9921875, -1.9921875, 1.0, 100.5]


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_sum_is_rounded_at_every_level(judge: Any, dtype: torch.dtype) -> None:
    """256 + 63 ones is 319, which bfloat16 cannot hold: a tree that rounds reaches 318, a chain stays at 256."""
    source = """
    @triton.jit
    def kernel(x_ptr, z_ptr, BLOCK: tl.constexpr):
        x = tl.load(x_ptr + tl.arange(0, BLOCK))
        tl.store(z_ptr, tl.sum(x, axis=0))

    def candidate(x):
        z = torch.empty(1, dtype=x.dtype, device=x.device)
        kernel[(1,)](x, z, BLOCK=x.shape[0])
        return z
    """
    x = torch.ones(64)
    x[0] = 256
    tree = x.to(dtype)
    while tree.numel() > 1:
        tree = tree[0::2] + tree[1::2]
    assert judge.interpret(source, x.to(dtype)).value.item() == tree.item()
    assert tree.item() == {torch.bfloat16: 318.0, torch.float16: 319.0}[dtype]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, *EIGHTS], ids=str)
def test_dot(judge: Any, dtype: torch.dtype) -> None:
    source = """
    @triton.jit
    def kernel(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
        m = tl.arange(0, M)[:, None]
        n = tl.arange(0, N)[None, :]
        k = tl.arange(0, K)
        a = tl.load(a_ptr + m * K + k[None, :])
        b = tl.load(b_ptr + k[:, None] * N + n)
        tl.store(c_ptr + m * N + n, tl.dot(a, b))

    def candidate(a, b):
        c = torch.empty((32, 32), dtype=torch.float32, device=a.device)
        kernel[(1,)](a, b, c, 32, 32, 32)
        return c
    """
    a = torch.randint(-4, 5, (32, 32), generator=GENERATOR).float().to(dtype)
    b = torch.randint(-4, 5, (32, 32), generator=GENERATOR).float().to(dtype)
    assert torch.equal(judge.interpret(source, a, b).value, a.float() @ b.float())


def test_dot_of_float32_uses_tf32_unless_told(judge: Any) -> None:
    source = """
    @triton.jit
    def kernel(a_ptr, c_ptr, PRECISION: tl.constexpr):
        i = tl.arange(0, 16)
        a = tl.load(a_ptr + i[:, None] * 16 + i[None, :])
        tl.store(c_ptr + i[:, None] * 16 + i[None, :], tl.dot(a, a, input_precision=PRECISION))

    def candidate(a, precision):
        c = torch.empty((16, 16), dtype=torch.float32, device=a.device)
        kernel[(1,)](a, c, precision)
        return c
    """
    a = torch.eye(16) * (1 + 2**-12)
    assert judge.interpret(source, a, "ieee").value[0, 0].item() == pytest.approx((1 + 2**-12) ** 2, rel=1.2e-7)
    assert judge.interpret(source, a, "tf32").value[0, 0].item() == 1.0


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_atomic_add(judge: Any, dtype: torch.dtype) -> None:
    if dtype == torch.bfloat16 and metadata.version("triton").startswith("3.3."):
        pytest.skip("Triton 3.3 refuses atomic_add of bfloat16 on a chip too")
    source = """
    @triton.jit
    def kernel(x_ptr, z_ptr, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.atomic_add(z_ptr + i % 4, tl.load(x_ptr + i))

    def candidate(x):
        z = torch.zeros(4, dtype=x.dtype, device=x.device)
        kernel[(1,)](x, z, BLOCK=x.shape[0])
        return z
    """
    x = torch.arange(32).to(dtype)
    expected = torch.tensor([sum(range(k, 32, 4)) for k in range(4)], dtype=torch.float32).to(dtype)
    assert torch.equal(judge.interpret(source, x).value, expected)
