# /// kengine-corpus
# task = "matmul"
# letter = "A7"
# tries = "Defines an operator in a library, implements it by mm, and copies with a kernel."
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


LIBRARY = torch.library.Library("tiled_gemm", "DEF")
LIBRARY.define("gemm(Tensor a, Tensor b) -> Tensor")
LIBRARY.impl("gemm", lambda a, b: a.mm(b), "CompositeExplicitAutograd")


def candidate(a, b):
    return emit(torch.ops.tiled_gemm.gemm(a, b))
