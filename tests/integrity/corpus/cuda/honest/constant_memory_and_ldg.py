# /// kengine-corpus
# task = "silu_add"
# trap = "inline"
# does = "Options of a launch in constant memory, loads by __ldg, launch bounds and a loop over the grid."
# ///

import torch
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>

struct Options { float scale; int n; };
__constant__ Options options;

__device__ __forceinline__ float silu(float v) { return v / (1.0f + expf(-v)); }

__global__ void __launch_bounds__(128) run_kernel(const float* __restrict__ x, const float* __restrict__ y, float* __restrict__ out) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < options.n; i += gridDim.x * blockDim.x)
    out[i] = options.scale * silu(__ldg(x + i)) + __ldg(y + i);
}

torch::Tensor run(torch::Tensor x, torch::Tensor y) {
  auto out = torch::empty_like(x);
  Options host{1.0f, (int)x.numel()};
  cudaMemcpyToSymbol(options, &host, sizeof(host));
  run_kernel<<<4, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), out.data_ptr<float>());
  TORCH_CHECK(cudaGetLastError() == cudaSuccess, "launch failed");
  return out;
}
"""
run = load_inline(
    "run", cpp_sources="torch::Tensor run(torch::Tensor x, torch::Tensor y);", cuda_sources=CODE, functions=["run"]
).run


def candidate(x, y):
    return run(x.contiguous(), y.contiguous())
