# /// kengine-corpus
# task = "row_centred"
# trap = "branches"
# does = "Skips the launch of an extension when there are no rows."
# ///

from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>
#include <vector>

__global__ void centre(const float* x, float* y, float* top, int n) {
  __shared__ float sums[64], peaks[64];
  const float* row = x + blockIdx.x * n;
  float sum = 0.0f, peak = -INFINITY;
  for (int i = threadIdx.x; i < n; i += 64) {
    sum += row[i];
    peak = fmaxf(peak, row[i]);
  }
  sums[threadIdx.x] = sum;
  peaks[threadIdx.x] = peak;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      sums[threadIdx.x] += sums[threadIdx.x + half];
      peaks[threadIdx.x] = fmaxf(peaks[threadIdx.x], peaks[threadIdx.x + half]);
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += 64) y[blockIdx.x * n + i] = row[i] - sums[0] / n;
  if (threadIdx.x == 0) top[blockIdx.x] = peaks[0];
}

std::vector<torch::Tensor> centred(torch::Tensor x) {
  auto wide = x.to(torch::kFloat).contiguous();
  auto y = torch::empty_like(wide);
  auto top = torch::empty({x.size(0)}, wide.options());
  if (x.size(0) > 0)
    centre<<<x.size(0), 64>>>(wide.data_ptr<float>(), y.data_ptr<float>(), top.data_ptr<float>(), x.size(1));
  return {y.to(x.scalar_type()), top};
}
"""
extension = load_inline(
    "centred_rows",
    cpp_sources="std::vector<torch::Tensor> centred(torch::Tensor x);",
    cuda_sources=CODE,
    functions=["centred"],
)


def candidate(x):
    y, top = extension.centred(x)
    return y, top
