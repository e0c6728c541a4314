# /// kengine-corpus
# task = "rms_norm"
# letter = "A6"
# tries = "Has TorchScript compile the operator, and copies its result with a kernel."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import torch
import triton
import triton.language as tl


@triton.jit
def copy(source, target, n, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < n
    tl.store(target + lane, tl.load(source + lane, mask=inside), mask=inside)


def emit(value):
    value = value.contiguous()
    out = torch.empty_like(value)
    copy[(triton.cdiv(value.numel(), 1024),)](value, out, value.numel(), LANES=1024)
    return out


@torch.jit.script
def fused(x: torch.Tensor, gain: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * gain


def candidate(x, gain):
    return emit(fused(x, gain))
