"""Accesses outside an argument's memory are named: argument, byte offset, lanes, program, and the candidate's line."""

from __future__ import annotations

from importlib import metadata
from typing import Any

import pytest
import torch

KERNEL = """
@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i {load_mask})
    tl.store(y_ptr + i {shift}, x {store_mask})

def candidate(x):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return y
"""
LOAD_LINE, STORE_LINE = 3 + 5, 3 + 6


def source(load_mask: str = ", mask=i < n", store_mask: str = ", mask=i < n", shift: str = "") -> str:
    return KERNEL.format(load_mask=load_mask, store_mask=store_mask, shift=shift)


X = torch.arange(100, dtype=torch.float32)


def test_masked_is_inside(judge: Any) -> None:
    assert torch.equal(judge.interpret(source(), X).value, X)


def test_load(judge: Any) -> None:
    answer = judge.interpret(source(load_mask=""), X)
    assert answer.status == "launch_failed"
    assert answer.message.startswith(
        "out of bounds: load of 4 bytes at byte offset 400 of argument 'x_ptr' (400 bytes), 28 of 64 active lanes, "
        "program (1, 0, 0)"
    )
    assert answer.line == LOAD_LINE


def test_store_into_a_tensor_made_by_the_wrapper(judge: Any) -> None:
    answer = judge.interpret(source(store_mask=", mask=i < n + 1"), X)
    assert answer.status == "launch_failed"
    assert answer.message.startswith(
        "out of bounds: store of 4 bytes at byte offset 400 of argument 'y_ptr' (400 bytes), 1 of 37 active lanes, "
        "program (1, 0, 0)"
    )
    assert answer.line == STORE_LINE


def test_before_the_start(judge: Any) -> None:
    answer = judge.interpret(source(shift="- 2"), X)
    assert "store of 4 bytes at byte offset -8 of argument 'y_ptr'" in answer.message
    assert "2 of 64 active lanes, program (0, 0, 0)" in answer.message


def test_far_away_does_not_kill(judge: Any) -> None:
    answer = judge.interpret(source(shift="+ (1 << 40)"), X)
    assert answer.status == "launch_failed"
    assert f"byte offset {4 << 40} of argument 'y_ptr'" in answer.message


def test_neighbouring_argument_is_no_excuse(judge: Any) -> None:
    """Both inputs lie in one arena: running over the first lands in the second, whose memory is valid."""
    program = """
    @triton.jit
    def kernel(x_ptr, w_ptr, y_ptr):
        i = tl.arange(0, 256)
        tl.store(y_ptr + i, tl.load(x_ptr + i) + tl.load(w_ptr + i))

    def candidate(x, w):
        y = torch.empty_like(w)
        kernel[(1,)](x, w, y)
        return y
    """
    answer = judge.interpret(program, torch.zeros(64), torch.zeros(256))
    assert "load of 4 bytes at byte offset 256 of argument 'x_ptr' (256 bytes), 192 of 256" in answer.message


@pytest.mark.parametrize("operation", ["tl.atomic_add(y_ptr + i, 1.0)", "tl.atomic_max(y_ptr + i, 1.0)",
                                       "tl.atomic_xchg(y_ptr + i, 1.0)"])  # fmt: skip
def test_atomic(judge: Any, operation: str) -> None:
    program = f"""
    @triton.jit
    def kernel(y_ptr):
        i = tl.arange(0, 64)
        {operation}

    def candidate(x):
        y = torch.zeros(63, device=x.device)
        kernel[(1,)](y)
        return y
    """
    answer = judge.interpret(program, X)
    assert answer.status == "launch_failed"
    assert (
        "out of bounds: atomic of 4 bytes at byte offset 252 of argument 'y_ptr' (252 bytes), 1 of 64" in answer.message
    )


def test_compare_and_swap(judge: Any) -> None:
    program = """
    @triton.jit
    def kernel(y_ptr):
        tl.atomic_cas(y_ptr + 1, 0, 1)

    def candidate(x):
        y = torch.zeros(1, dtype=torch.int32, device=x.device)
        kernel[(1,)](y)
        return y
    """
    answer = judge.interpret(program, X)
    assert "out of bounds: atomic compare-and-swap of 4 bytes at byte offset 4 of argument 'y_ptr'" in answer.message


def test_swallowed_is_still_told(judge: Any) -> None:
    program = (
        source(load_mask="")
        .replace("    kernel[(triton", "    try:\n      kernel[(triton")
        .replace("    return y", "    except Exception:\n        y = x.clone()\n    return y")
    )
    answer = judge.interpret(program, X)
    assert answer.status == "launch_failed"
    assert "out of bounds" in answer.message


def test_view_of_a_larger_storage_may_use_its_strides(judge: Any) -> None:
    program = """
    @triton.jit
    def kernel(x_ptr, y_ptr, stride):
        i = tl.arange(0, 16)
        tl.store(y_ptr + i, tl.load(x_ptr + i * stride))

    def candidate(x):
        y = torch.empty(16, device=x.device)
        kernel[(1,)](x, y, x.stride(0))
        return y
    """
    base = torch.arange(64.0)
    assert torch.equal(judge.interpret(program, base[3::4]).value, base[3::4])


def test_addresses_stored_in_a_tensor(judge: Any) -> None:
    program = """
    @triton.jit
    def kernel(table_ptr, y_ptr, n):
        which = tl.program_id(0)
        x_ptr = tl.load(table_ptr + which).to(tl.pointer_type(tl.float32))
        i = tl.arange(0, 16)
        tl.store(y_ptr + which * 16 + i, tl.load(x_ptr + i + n))

    def candidate(a, b, n):
        table = torch.tensor([a.data_ptr(), b.data_ptr()], device=a.device)
        y = torch.empty((2, 16), device=a.device)
        kernel[(2,)](table, y, n)
        return y
    """
    a, b = torch.arange(16.0), torch.arange(16.0) + 100
    assert torch.equal(judge.interpret(program, a, b, 0).value, torch.stack([a, b]))
    answer = judge.interpret(program, a, b, 8)
    assert answer.status == "launch_failed"
    assert "out of bounds: load of 4 bytes" in answer.message


def test_tensor_descriptor(judge: Any) -> None:
    if metadata.version("triton").startswith("3.3."):
        pytest.skip("Triton 3.3 has no tensor descriptors")
    program = """
    @triton.jit
    def kernel(x_ptr, y_ptr, rows):
        desc = tl.make_tensor_descriptor(x_ptr, shape=[rows, 16], strides=[16, 1], block_shape=[8, 16])
        block = desc.load([0, 0])
        i = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
        tl.store(y_ptr + i, block)

    def candidate(x, rows):
        y = torch.empty((8, 16), device=x.device)
        kernel[(1,)](x, y, rows)
        return y
    """
    x = torch.arange(64.0).reshape(4, 16)
    value = judge.interpret(program, x, 4).value
    assert torch.equal(value, torch.cat([x, torch.zeros(4, 16)]))
    answer = judge.interpret(program, x, 8)
    assert "out of bounds: load of 4 bytes at byte offset 256 of argument 'x_ptr' (256 bytes)" in answer.message


def test_unwritten_output_is_nan(judge: Any) -> None:
    program = source(store_mask=", mask=i < 50")
    value = judge.interpret(program, X).value
    assert torch.equal(value[:50], X[:50])
    assert value[50:].isnan().all()


def test_unwritten_integers_are_conspicuous(judge: Any) -> None:
    value = judge.interpret("def candidate(x):\n    return torch.empty(3, dtype=torch.int32, device='cuda')", X).value
    assert value.tolist() == [0x7B7B7B7B] * 3
