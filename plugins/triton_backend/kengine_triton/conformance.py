"""The golden kernels in Triton."""

from __future__ import annotations

from kengine.testing.golden import Golden

_ADD_TASK = """
import torch

def reference(x, y):
    return x + y

def make_inputs(seed, device, rows=300):
    draw = torch.Generator(device).manual_seed(seed)
    return tuple(torch.randn(rows, generator=draw, device=device) for _ in range(2))
"""

_SOFTMAX_TASK = """
import torch

def reference(x):
    return torch.softmax(x, dim=-1)

def make_inputs(seed, device, rows=9, columns=77):
    draw = torch.Generator(device).manual_seed(seed)
    return (torch.randn(rows, columns, generator=draw, device=device),)
"""

_ADD = """
import torch
import triton
import triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x + at, inside) + tl.load(y + at, inside)
    tl.store(out + at, total, inside)

def candidate(x, y):
    out = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 64),)](x, y, out, x.numel(), BLOCK=64)
    return out
"""

_SOFTMAX = """
import torch
import triton
import triton.language as tl

@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.load(x + tl.program_id(0) * columns + at, inside, other=-float("inf"))
    e = tl.exp(row - tl.max(row, 0))
    tl.store(out + tl.program_id(0) * columns + at, e / tl.sum(e, 0), inside)

def candidate(x):
    out = torch.empty_like(x)
    rows, columns = x.shape
    softmax[(rows,)](x.contiguous(), out, columns, BLOCK=triton.next_power_of_2(columns))
    return out
"""

_LOADED = "    total = tl.load(x + at, inside) + tl.load(y + at, inside)\n"


def _change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


KERNELS = {
    "add_ok": Golden(_ADD, _ADD_TASK),
    "softmax_ok": Golden(_SOFTMAX, _SOFTMAX_TASK),
    "wrong_scale": Golden(_change(_SOFTMAX, "e / tl.sum", "1.01 * e / tl.sum"), _SOFTMAX_TASK),
    "nan_output": Golden(
        _change(_ADD, _LOADED, _LOADED + '    total = tl.where(at == 7, float("nan"), total)\n'), _ADD_TASK
    ),
    # Far enough that a device without checked memory dies of it too.
    "out_of_bounds": Golden(_change(_ADD, "tl.load(x + at, inside)", "tl.load(x + at + (1 << 30))"), _ADD_TASK),
    "hang": Golden(
        _change(_ADD, _LOADED, _LOADED + "    while tl.load(x + at * 0).to(tl.int32, bitcast=True).max(0) != -1:\n"
                "        tl.atomic_add(out, 1.0)\n"), _ADD_TASK
    ),
    "compile_error": Golden(_change(_ADD, "tl.arange(0, BLOCK)", "tl.arange(0, n)"), _ADD_TASK),
    "mutates_input": Golden(_change(_ADD, _LOADED, _LOADED + "    tl.store(x, 0.5)\n"), _ADD_TASK),
    "empty_output": Golden(_change(_ADD, "return out", "return out[:0]"), _ADD_TASK),
}  # fmt: skip
"""Each name of the kit; most are the first two with one thing changed."""
