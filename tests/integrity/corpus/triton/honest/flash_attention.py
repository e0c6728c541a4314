# /// kengine-corpus
# task = "attention"
# trap = "several kernels"
# does = "Computes attention in one kernel with a running maximum."
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def flash(q, k, v, out, length, scale, BQ: tl.constexpr, BK: tl.constexpr, WIDTH: tl.constexpr):
    head = tl.program_id(1) * length * WIDTH
    row = tl.program_id(0) * BQ + tl.arange(0, BQ)
    lane = tl.arange(0, WIDTH)
    place = head + row[:, None] * WIDTH + lane[None, :]
    query = tl.load(q + place, mask=row[:, None] < length, other=0.0) * scale
    top = tl.full((BQ,), -float("inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    mixed = tl.zeros((BQ, WIDTH), tl.float32)
    for start in range(0, tl.minimum(tl.program_id(0) * BQ + BQ, length), BK):
        col = start + tl.arange(0, BK)
        there = head + col[:, None] * WIDTH + lane[None, :]
        keys = tl.load(k + there, mask=col[:, None] < length, other=0.0)
        scores = tl.dot(query, tl.trans(keys), input_precision="ieee")
        scores = tl.where((col[None, :] <= row[:, None]) & (col[None, :] < length), scores, -float("inf"))
        new = tl.maximum(top, tl.max(scores, axis=1))
        weights = tl.exp(scores - new[:, None])
        shrink = tl.exp(top - new)
        values = tl.load(v + there, mask=col[:, None] < length, other=0.0)
        mixed = mixed * shrink[:, None] + tl.dot(weights, values, input_precision="ieee")
        total = total * shrink + tl.sum(weights, axis=1)
        top = new
    tl.store(out + place, mixed / total[:, None], mask=row[:, None] < length)


def candidate(q, k, v):
    q, k, v = (t.contiguous() for t in (q, k, v))
    heads, length, width = q.shape
    out = torch.empty_like(q)
    grid = (triton.cdiv(length, 16), heads)
    flash[grid](q, k, v, out, length, width**-0.5, BQ=16, BK=16, WIDTH=width, num_stages=2)
    return out
