"""Matrix product with a scripted prologue."""

# /// kengine-corpus
# task = "matmul"
# letter = "A5"
# tries = "TorchScript text holds the product; the kernel scales it by a one that it reads from memory."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl

PROLOGUE = torch.jit.CompilationUnit(
    """
def stage(left, right):
    return left.unsqueeze(0).%s(right.unsqueeze(0)).squeeze(0)
"""
    % "".join(("b", "m", "m"))
)


@triton.jit
def scale_tile(staged, unit, out, total, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < total
    tl.store(out + lane, tl.load(staged + lane, inside) * tl.load(unit), inside)


def candidate(a, b):
    staged = PROLOGUE.stage(a, b)
    unit = torch.ones(1, device=a.device, dtype=a.dtype)
    out = torch.empty_like(staged)
    scale_tile[(triton.cdiv(out.numel(), 128),)](staged, unit, out, out.numel(), LANES=128)
    return out
