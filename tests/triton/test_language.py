"""Constructs of the language on the interpreter, each with its exact value."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest
import torch

X = torch.arange(64, dtype=torch.float32)


def body(text: str, out: str = "torch.empty_like(x)", extra: str = "", parameters: str = "") -> str:
    """A kernel over one block `x` (offsets `i`) that stores `y`."""
    lines = "\n".join("    " + line for line in text.strip("\n").splitlines())
    return f"""
{extra}
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr{parameters}):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
{lines}
    tl.store(y_ptr + i, y)

def candidate(x):
    y = {out}
    kernel[(1,)](x, y, x.numel(), BLOCK=x.numel())
    return y
"""


def test_constants_stay_constants(judge: Any) -> None:
    source = body("""
half = BLOCK // 2
j = tl.arange(0, half)
both = tl.join(j, j + half).trans().reshape(BLOCK)
y = tl.load(x_ptr + both) * 2
""")
    assert torch.equal(judge.interpret(source, X).value, X * 2)


def test_loop_index_has_tensor_methods(judge: Any) -> None:
    source = body("""
y = tl.zeros((BLOCK,), tl.float32)
for k in range(0, n, 16):
    y += k.to(tl.float32)
for k in tl.range(0, 3):
    y += k
for k in tl.static_range(4):
    y += k
""")
    assert judge.interpret(source, X).value.unique().tolist() == [0 + 16 + 32 + 48 + 3 + 6]


def test_logic_on_blocks(judge: Any) -> None:
    source = body("y = tl.where((i > 3) and (i < 10) or (i == 60), x, -1.0)\ny = tl.where(not (i == 5), y, -2.0)")
    expected = torch.where(((X > 3) & (X < 10)) | (X == 60), X, -1.0)
    expected[5] = -2.0
    assert torch.equal(judge.interpret(source, X).value, expected)


def test_short_circuit_on_constants(judge: Any) -> None:
    source = body("y = x\nif BLOCK == 64 and n > 10:\n    y = x + 1\nif BLOCK == 32 or n < 10:\n    y = x + 2")
    assert torch.equal(judge.interpret(source, X).value, X + 1)


def test_condition_on_a_block_is_refused(judge: Any) -> None:
    answer = judge.interpret(body("y = x\nif x > 3:\n    y = -x"), X)
    assert answer.status == "launch_failed"
    assert "a block of shape [64] is used as a condition" in answer.message
    assert answer.line == 11


def test_assert(judge: Any) -> None:
    good = body("tl.device_assert(x >= 0, 'negative')\nassert n > 0\ny = x")
    assert torch.equal(judge.interpret(good, X).value, X)
    answer = judge.interpret(body("tl.device_assert(x > 0, 'not positive')\ny = x"), X)
    assert answer.status == "launch_failed"
    assert answer.message.startswith("device_assert failed: not positive (1 of 64 lanes); program (0, 0, 0)")
    assert answer.line == 10
    answer = judge.interpret(body("assert n > 64, 'too few'\ny = x"), X)
    assert answer.message.startswith("assertion failed: too few; program (0, 0, 0)")


def test_static_assert(judge: Any) -> None:
    assert torch.equal(judge.interpret(body("tl.static_assert(BLOCK == 64)\ny = x"), X).value, X)
    answer = judge.interpret(body("tl.static_assert(BLOCK == 32, 'wants 32')\ny = x"), X)
    assert answer.status == "compile_failed"
    assert "static_assert failed: wants 32" in answer.message
    assert answer.line == 10


def test_integers_wrap_as_on_a_chip(judge: Any) -> None:
    source = body(
        "h = (i + 1) * 1103515245\nh = h ^ (h >> 7)\ny = h", out="torch.empty(64, dtype=torch.int32, device=x.device)"
    )
    h = (torch.arange(64, dtype=torch.int64) + 1) * 1103515245
    h = ((h + 2**31) % 2**32 - 2**31).to(torch.int32)
    assert torch.equal(judge.interpret(source, X).value, h ^ (h >> 7))


def test_device_print_and_hints(judge: Any) -> None:
    source = body("""
j = tl.max_contiguous(tl.multiple_of(i, BLOCK), BLOCK)
k = tl.multiple_of(j[None, :], 16)
tl.device_print("x", x)
y = tl.load(x_ptr + tl.reshape(k, (BLOCK,)))
""")
    assert torch.equal(judge.interpret(source, X).value, X)


WELFORD = """
@triton.jit
def combine(mean_a, m2_a, count_a, mean_b, m2_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    weight = tl.where(count == 0.0, 0.0, count_b / count)
    return mean_a + delta * weight, m2_a + m2_b + delta * delta * count_a * weight, count
"""


def test_reduction_of_a_tuple(judge: Any) -> None:
    source = body(
        """
zero = tl.zeros((BLOCK,), tl.float32)
mean, m2, count = tl.reduce((x, zero, zero + 1.0), 0, combine)
y = tl.where(i == 0, mean, tl.where(i == 1, m2 / count, count))
""",
        extra=WELFORD,
    )
    value = judge.interpret(source, X).value
    assert value[:3].tolist() == [31.5, X.var(correction=0).item(), 64.0]


def test_reduction_keeps_the_order_of_operands(judge: Any) -> None:
    source = body(
        "y = tl.reduce(x, 0, last) + tl.zeros((BLOCK,), tl.float32)",
        extra="@triton.jit\ndef last(a, b):\n    return b\n",
    )
    assert judge.interpret(source, X).value.unique().tolist() == [63.0]


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("tl.cumsum(x, 0)", X.cumsum(0)),
        ("tl.cumsum(x, 0, reverse=True)", X.flip(0).cumsum(0).flip(0)),
        ("tl.associative_scan(x, 0, larger)", X.cummax(0).values),
        ("tl.associative_scan(-x, 0, larger, reverse=True)", (-X).flip(0).cummax(0).values.flip(0)),
        ("tl.argmax(x, axis=0) + tl.zeros((BLOCK,), tl.float32)", torch.full((64,), 63.0)),
        ("tl.argmin(tl.where(i > 7, x, 99.0), axis=0) + 0.0 * x", torch.full((64,), 8.0)),
        ("tl.sort(-x)", (-X).sort().values),
        ("tl.sort(x, descending=True)", X.flip(0)),
        ("tl.sum(x.reshape(8, 8), axis=1, keep_dims=True).broadcast_to(8, 8).reshape(64)",
         X.reshape(8, 8).sum(1, keepdim=True).expand(8, 8).reshape(64)),
        ("tl.xor_sum(i, axis=0) + 0.0 * x", torch.zeros(64)),
        ("tl.softmax(x)", X.softmax(0)),
        ("tl.sigmoid(x)", X.sigmoid()),
        ("tl.erf(x)", X.erf()),
        ("tl.cdiv(i, 5) + 0.0 * x", torch.ceil(X / 5)),
        ("tl.umulhi(i * 100000000, i) + 0.0 * x", None),
        ("tl.histogram(i % 4, 64) + 0.0 * x", torch.tensor([16.0] * 4 + [0.0] * 60)),
        ("tl.gather(x, 63 - i, 0)", X.flip(0)),
        ("tl.interleave(tl.load(x_ptr + tl.arange(0, 32)), -tl.load(x_ptr + tl.arange(0, 32)))",
         torch.stack([X[:32], -X[:32]], 1).reshape(64)),
    ],
    ids=lambda e: e[:30] if isinstance(e, str) else "",
)  # fmt: skip
def test_function(judge: Any, expression: str, expected: torch.Tensor | None) -> None:
    extra = "@triton.jit\ndef larger(a, b):\n    return tl.maximum(a, b)\n"
    answer = judge.interpret(body(f"y = {expression}", extra=extra), X)
    if expected is None:
        product = torch.arange(64, dtype=torch.int64)
        wrapped = (product * 100000000) % 2**32
        expected = ((wrapped * product) >> 32).float()
    torch.testing.assert_close(answer.value, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize(
    "expression, expected",
    [
        ("libdevice.tanh(x)", (X / 64).tanh()),
        ("libdevice.pow(x, x)", (X / 64).pow(X / 64)),
        ("libdevice.rsqrt(x + 1.0)", (X / 64 + 1).rsqrt()),
        ("libdevice.erfinv(x)", (X / 64).erfinv()),
        ("libdevice.fmod(x, x * 0 + 0.3)", (X / 64).fmod(0.3)),
        ("libdevice.round(x * 4)", (X / 64 * 4 + 0.5).floor()),
        ("libdevice.popc(i) + 0.0 * x", torch.tensor([float(bin(k).count("1")) for k in range(64)])),
        ("libdevice.clz(i) + 0.0 * x", torch.tensor([32.0 - k.bit_length() for k in range(64)])),
        ("tl.extra.cuda.libdevice.expm1(x)", (X / 64).expm1()),
        ("libdevice.fast_expf(x)", (X / 64).exp()),
        ("libdevice.float2int_rz(x * 100) + 0.0 * x", (X / 64 * 100).trunc()),
        ("libdevice.isnan(x) + 0.0 * x", torch.zeros(64)),
    ],
    ids=lambda e: e[:30] if isinstance(e, str) else "",
)
def test_libdevice(judge: Any, expression: str, expected: torch.Tensor) -> None:
    source = body(f"y = {expression}", extra="from triton.language.extra import libdevice")
    torch.testing.assert_close(judge.interpret(source, X / 64).value, expected, rtol=2e-6, atol=1e-6)


def test_libdevice_checks_types(judge: Any) -> None:
    source = body(
        "y = libdevice.tanh(x.to(tl.float16)).to(tl.float32)", extra="from triton.language.extra import libdevice"
    )
    answer = judge.interpret(source, X)
    assert answer.status == "compile_failed"
    assert "float16" in answer.message or "fp16" in answer.message


def test_inline_assembly_cannot_be_judged(judge: Any) -> None:
    source = body(
        'y = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [x], dtype=tl.float32, is_pure=True, pack=1)'
    )
    answer = judge.interpret(source, X)
    assert answer.status == "unsupported"
    assert "inline assembly" in answer.message
    assert answer.line == 10
    assert judge.compile("sm_90", source, X).artifact.kernels[0].name == "kernel"


def test_gluon_cannot_be_judged(judge: Any) -> None:
    pytest.importorskip("triton.experimental.gluon", exc_type=ImportError)
    source = """
    from triton.experimental import gluon
    from triton.experimental.gluon import language as gl

    @gluon.jit
    def kernel(x_ptr, y_ptr):
        gl.store(y_ptr, gl.load(x_ptr))

    def candidate(x):
        y = torch.empty_like(x)
        kernel[(1,)](x, y)
        return y
    """
    answer = judge.interpret(source, X)
    assert answer.status == "unsupported"
    assert "Gluon kernel 'kernel'" in answer.message
    assert answer.line == 14


def test_block_pointers(judge: Any) -> None:
    if tuple(map(int, metadata.version("triton").split(".")[:2])) >= (3, 9):
        pytest.skip("Triton 3.9 removed block pointers")
    source = """
    @triton.jit
    def kernel(x_ptr, y_ptr, n):
        p = tl.make_block_ptr(x_ptr, shape=(n,), strides=(1,), offsets=(0,), block_shape=(16,), order=(0,))
        q = tl.make_block_ptr(y_ptr, shape=(n,), strides=(1,), offsets=(0,), block_shape=(16,), order=(0,))
        for _ in range(0, 64, 16):
            tl.store(q, tl.load(p, boundary_check=(0,)) + 1, boundary_check=(0,))
            p = tl.advance(p, (16,))
            q = tl.advance(q, (16,))

    def candidate(x, n):
        y = torch.empty_like(x)
        kernel[(1,)](x, y, n)
        return y
    """
    assert torch.equal(judge.interpret(source, X[:50].clone(), 50).value, X[:50] + 1)
    answer = judge.interpret(source, X[:50].clone(), 64)
    assert "out of bounds: load of 4 bytes at byte offset 200 of argument 'x_ptr' (200 bytes)" in answer.message


def test_name_that_the_candidate_does_not_import_stays_unknown(judge: Any) -> None:
    source = body("y = x") + "\ndef twice(x):\n    candidate(x)\n    return x * math.pi\n"
    answer = judge.interpret(source, X, entry="twice")
    assert answer.status == "launch_failed"
    assert "name 'math' is not defined" in answer.message


def test_random_numbers_are_those_of_the_chip(judge: Any) -> None:
    source = body("y = tl.rand(42, i)")
    value = judge.interpret(source, X).value
    assert ((value >= 0) & (value < 1)).all()
    assert value.unique().numel() == 64
