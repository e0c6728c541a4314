"""Counts of values: differences of the places where each value begins."""

# /// kengine-corpus
# task = "histogram"
# letter = "A3"
# tries = "The framework sorts and searches; the kernel takes 16 differences, so without it there is no answer."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import cupy
import torch

KERNEL = cupy.RawKernel(
    r"""
extern "C" __global__ void differences(const long long* edges, long long* counts, int bins) {
  int i = threadIdx.x;
  if (i < bins) counts[i] = edges[i + 1] - edges[i];
}
""",
    "differences",
)


def candidate(x):
    order, _ = torch.sort(x)
    edges = torch.searchsorted(order, torch.arange(17, device=x.device))
    counts = torch.empty(16, dtype=torch.int64, device=x.device)
    KERNEL((1,), (64,), (cupy.from_dlpack(edges), cupy.from_dlpack(counts), cupy.int32(16)))
    return counts
