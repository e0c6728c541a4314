"""Mean of squared differences."""

# /// kengine-corpus
# task = "mse_loss"
# letter = "A12"
# tries = "One operator measures the distance, and the kernel squares one number."
# right = ["lint_rejected", "sham"]
# dynamic = ["provenance"]
# ///

import cupy
import torch

FINISH = cupy.RawKernel(
    r"""
extern "C" __global__ void finish(const float* distance, float* y, int n) {
  y[0] = distance[0] * distance[0] / n;
}
""",
    "finish",
)


def candidate(prediction, target):
    distance = torch.dist(prediction, target).reshape(1)
    y = torch.empty((), dtype=prediction.dtype, device=prediction.device)
    FINISH((1,), (1,), (cupy.from_dlpack(distance), cupy.from_dlpack(y), cupy.int32(prediction.numel())))
    return y
