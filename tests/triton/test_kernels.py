"""Whole kernels of the kinds that people and models write, against torch in float64, and compiled for two vendors."""

from __future__ import annotations

from typing import Any

import pytest
import torch

ATTENTION = """
@triton.jit
def attend(q_ptr, k_ptr, v_ptr, o_ptr, scale, N,
           D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, CAUSAL: tl.constexpr):
    head = tl.program_id(1)
    start = tl.program_id(0) * BM
    base = head.to(tl.int64) * N * D
    m = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + base + m[:, None] * D + d[None, :], mask=m[:, None] < N, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    end = N if not CAUSAL else tl.minimum(start + BM, N)
    for j in range(0, end, BN):
        j = tl.multiple_of(j, BN)
        n = j + tl.arange(0, BN)
        k = tl.load(k_ptr + base + n[None, :] * D + d[:, None], mask=n[None, :] < N, other=0.0)
        s = tl.dot(q, k) * scale
        keep = n[None, :] < N
        if CAUSAL:
            keep = keep & (m[:, None] >= n[None, :])
        s = tl.where(keep, s, -1e30)
        high = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - high[:, None])
        factor = tl.exp(top - high)
        total = total * factor + tl.sum(p, 1)
        v = tl.load(v_ptr + base + n[:, None] * D + d[None, :], mask=n[:, None] < N, other=0.0)
        acc = acc * factor[:, None] + tl.dot(p.to(v.dtype), v)
        top = high
    acc = acc / total[:, None]
    tl.store(o_ptr + base + m[:, None] * D + d[None, :], acc.to(o_ptr.dtype.element_ty), mask=m[:, None] < N)

def candidate(q, k, v, causal):
    B, H, N, D = q.shape
    assert q.is_contiguous() and k.is_contiguous() and v.is_contiguous()
    o = torch.empty_like(q)
    attend[(triton.cdiv(N, 32), B * H)](q, k, v, o, D ** -0.5, N, D=D, BM=32, BN=32, CAUSAL=causal)
    return o
"""

LAYERNORM_BACKWARD = """
@triton.jit
def reduce(dy_ptr, x_ptr, dw_ptr, lock_ptr, count_ptr, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    mask = i < N
    partial = tl.load(dy_ptr + row * N + i, mask=mask, other=0.0) * tl.load(x_ptr + row * N + i, mask=mask, other=0.0)
    group = row % GROUPS
    while tl.atomic_cas(lock_ptr + group, 0, 1) == 1:
        pass
    count = tl.load(count_ptr + group)
    if count == 0:
        tl.atomic_xchg(count_ptr + group, 1)
    else:
        partial += tl.load(dw_ptr + group * N + i, mask=mask)
    tl.store(dw_ptr + group * N + i, partial, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0)

@triton.jit
def finish(part_ptr, dw_ptr, N, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.arange(0, GROUPS)
    mask = (g[:, None] < GROUPS) & (i[None, :] < N)
    part = tl.load(part_ptr + g[:, None] * N + i[None, :], mask=mask, other=0.0, eviction_policy="evict_first")
    tl.store(dw_ptr + i, tl.sum(part, axis=0), mask=i < N)

def candidate(dy, x):
    M, N = x.shape
    locks = torch.zeros(8, dtype=torch.int32, device=x.device)
    partial = torch.empty((4, N), dtype=x.dtype, device=x.device)
    dw = torch.empty(N, dtype=x.dtype, device=x.device)
    reduce[(M,)](dy, x, partial, locks, locks[4:], N, GROUPS=4, BLOCK=triton.next_power_of_2(N))
    finish[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](partial, dw, N, GROUPS=4, BLOCK=64)
    return dw
"""

CROSS_ENTROPY = """
@triton.jit
def loss(x_ptr, target_ptr, out_ptr, N, ignored, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    target = tl.load(target_ptr + row)
    if target == ignored:
        tl.store(out_ptr + row, 0.0)
        return
    top = -float("inf")
    total = 0.0
    for off in range(0, N, BLOCK):
        i = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * N + i, mask=i < N, other=-float("inf")).to(tl.float32)
        high = tl.maximum(top, tl.max(x, axis=0))
        total = total * tl.exp(top - high) + tl.sum(tl.exp(x - high), axis=0)
        top = high
    chosen = tl.load(x_ptr + row * N + target).to(tl.float32)
    tl.store(out_ptr + row, tl.log(total) + top - chosen)

def candidate(x, target):
    out = torch.empty(x.shape[0], dtype=torch.float32, device=x.device)
    loss[(x.shape[0],)](x, target, out, x.shape[1], -100, BLOCK=64)
    return out
"""

G = torch.Generator().manual_seed(11)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_attention(judge: Any, causal: bool, dtype: torch.dtype) -> None:
    q, k, v = (torch.randn(1, 2, 75, 32, generator=G).to(dtype) for _ in range(3))
    expected = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), is_causal=causal)
    value = judge.interpret(ATTENTION, q, k, v, causal).value
    error = (value.double() - expected).abs().max() / expected.abs().max()
    assert error < {torch.float16: 1e-3, torch.bfloat16: 8e-3}[dtype]


def test_locks_and_groups(judge: Any) -> None:
    dy, x = torch.randn(37, 50, generator=G), torch.randn(37, 50, generator=G)
    answer = judge.interpret(LAYERNORM_BACKWARD, dy, x)
    torch.testing.assert_close(answer.value, (dy * x).sum(0), rtol=1e-5, atol=1e-5)
    assert [launch.kernel for launch in answer.launches] == ["reduce", "finish"]


def test_cross_entropy(judge: Any) -> None:
    x = torch.randn(9, 130, generator=G) * 5
    target = torch.randint(0, 130, (9,), generator=G)
    target[3] = -100
    expected = torch.nn.functional.cross_entropy(x, target, reduction="none")
    torch.testing.assert_close(judge.interpret(CROSS_ENTROPY, x, target).value, expected, rtol=1e-5, atol=1e-5)
    target[5] = 130
    answer = judge.interpret(CROSS_ENTROPY, x[:6].contiguous(), target[:6])
    assert answer.status == "launch_failed"
    assert "out of bounds: load of 4 bytes at byte offset 3120 of argument 'x_ptr' (3120 bytes)" in answer.message


@pytest.mark.parametrize("arch", ["sm_90", "gfx942"])
@pytest.mark.parametrize("source", [ATTENTION, LAYERNORM_BACKWARD, CROSS_ENTROPY], ids=["attention", "locks", "loss"])
def test_compiles(judge: Any, source: str, arch: str) -> None:
    if source is ATTENTION:
        q = torch.randn(1, 2, 75, 32).half()
        arguments: list[Any] = [q, q, q, True]
    elif source is CROSS_ENTROPY:
        arguments = [torch.randn(9, 130), torch.zeros(9, dtype=torch.int64)]
    else:
        arguments = [torch.randn(37, 50), torch.randn(37, 50)]
    kernels = judge.compile(arch, source, *arguments).artifact.kernels
    assert len(kernels) == (2 if source is LAYERNORM_BACKWARD else 1)
    assert all(kernel.registers for kernel in kernels)
