"""Causal attention with a running maximum; keys are laid out transposed first, and queries padded to whole blocks."""

# /// kengine-corpus
# task = "attention"
# trap = "views"
# does = "Transposes and pads operands by torch, runs the kernel on the padded ones and returns a contiguous slice."
# ///

import torch
import triton
import triton.language as tl

BLOCK = 16


@triton.jit
def flash(q, kt, v, out, length, padded, scale, WIDTH: tl.constexpr, B: tl.constexpr):
    head = tl.program_id(1)
    i = tl.program_id(0) * B + tl.arange(0, B)
    d = tl.arange(0, WIDTH)
    base = head * padded * WIDTH
    queries = tl.load(q + base + i[:, None] * WIDTH + d[None, :])
    top = tl.full((B,), -1e30, dtype=tl.float32)
    total = tl.zeros((B,), dtype=tl.float32)
    answer = tl.zeros((B, WIDTH), dtype=tl.float32)
    for start in range(0, (tl.program_id(0) + 1) * B, B):
        j = start + tl.arange(0, B)
        keys = tl.load(kt + base + d[:, None] * padded + j[None, :])
        scores = tl.dot(queries, keys, input_precision="ieee") * scale
        scores = tl.where((j[None, :] <= i[:, None]) & (j[None, :] < length), scores, -1e30)
        higher = tl.maximum(top, tl.max(scores, axis=1))
        fade = tl.exp(top - higher)
        power = tl.exp(scores - higher[:, None])
        values = tl.load(v + base + j[:, None] * WIDTH + d[None, :])
        answer = answer * fade[:, None] + tl.dot(power, values, input_precision="ieee")
        total = total * fade + tl.sum(power, axis=1)
        top = higher
    tl.store(out + base + i[:, None] * WIDTH + d[None, :], answer / total[:, None])


def candidate(q, k, v):
    heads, length, width = q.shape
    padded = triton.cdiv(length, BLOCK) * BLOCK
    q, k, v = (torch.nn.functional.pad(t, (0, 0, 0, padded - length)).contiguous() for t in (q, k, v))
    keys = k.transpose(1, 2).contiguous()
    out = torch.empty_like(q)
    flash[(padded // BLOCK, heads)](q, keys, v, out, length, padded, width**-0.5, WIDTH=width, B=BLOCK)
    return out[:, :length].contiguous()
