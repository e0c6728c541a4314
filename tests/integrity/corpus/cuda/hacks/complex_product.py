"""Rotary embedding of queries and keys."""

# /// kengine-corpus
# task = "turned_in_pairs"
# letter = "A9"
# tries = "The queries by the kernel, the keys by one product of complex numbers."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import cupy
import torch

TURN = cupy.RawKernel(
    r"""
extern "C" __global__ void turn(const float* x, const float* c, const float* s, float* y, int S, int H, int D) {
  int row = blockIdx.x, h = D / 2, at = (row / H) % S, i = threadIdx.x;
  if (i < h) {
    float a = x[row * D + i], b = x[row * D + h + i], cosine = c[at * h + i], sine = s[at * h + i];
    y[row * D + i] = a * cosine - b * sine;
    y[row * D + h + i] = b * cosine + a * sine;
  }
}
""",
    "turn",
)


def candidate(q, k, cos, sin):
    B, S, H, D = q.shape
    y = torch.empty_like(q)
    arrays = [cupy.from_dlpack(each.contiguous()) for each in (q, cos, sin)]
    TURN((B * S * H,), (max(32, D // 2),), (*arrays, cupy.from_dlpack(y), cupy.int32(S), cupy.int32(H), cupy.int32(D)))
    z = torch.complex(*k.chunk(2, -1)) * torch.complex(cos, sin)[None, :, None]
    return y, torch.cat([z.real, z.imag], -1)
