import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <c10/cuda/CUDAStream.h>

struct WelfordState { float mean, m2; int count; };
__device__ inline WelfordState welford_combine(WelfordState a, WelfordState b) {
  if (b.count == 0) return a;
  if (a.count == 0) return b;
  float delta = b.mean - a.mean;
  int n = a.count + b.count;
  WelfordState r;
  r.mean = a.mean + delta * b.count / n;
  r.m2 = a.m2 + b.m2 + delta * delta * ((float)a.count * b.count / n);
  r.count = n;
  return r;
}

__global__ void layer_norm_kernel(const float* __restrict__ x, const float* __restrict__ gamma, const float* __restrict__ beta,
                                  float* __restrict__ y, int D, float eps) {
  __shared__ float s_mean, s_rstd;
  __shared__ WelfordState warp_states[8];
  const float* row = x + (long long)blockIdx.x * D;
  WelfordState st = {0.f, 0.f, 0};
  for (int i = threadIdx.x; i < D; i += blockDim.x) {
    st.count += 1;
    float d = row[i] - st.mean;
    st.mean += d / st.count;
    st.m2 += d * (row[i] - st.mean);
  }
  for (int o = 16; o > 0; o >>= 1) {
    WelfordState other;
    other.mean = __shfl_down_sync(0xFFFFFFFF, st.mean, o);
    other.m2 = __shfl_down_sync(0xFFFFFFFF, st.m2, o);
    other.count = __shfl_down_sync(0xFFFFFFFF, st.count, o);
    st = welford_combine(st, other);
  }
  if (threadIdx.x % 32 == 0) warp_states[threadIdx.x / 32] = st;
  __syncthreads();
  if (threadIdx.x == 0) {
    WelfordState total = warp_states[0];
    for (int w = 1; w < blockDim.x / 32; ++w) total = welford_combine(total, warp_states[w]);
    s_mean = total.mean;
    s_rstd = rsqrtf(total.m2 / D + eps);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < D; i += blockDim.x)
    y[(long long)blockIdx.x * D + i] = (row[i] - s_mean) * s_rstd * gamma[i] + beta[i];
}

torch::Tensor layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps) {
  TORCH_CHECK(x.size(-1) == weight.numel(), "weight has ", weight.numel(), " elements, expected ", x.size(-1));
  auto y = torch::empty_like(x);
  int D = weight.numel();
  int rows = x.numel() / D;
  layer_norm_kernel<<<rows, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
      x.const_data_ptr<float>(), weight.const_data_ptr<float>(), bias.const_data_ptr<float>(), y.mutable_data_ptr<float>(), D, (float)eps);
  return y;
}
"""
ln = load_inline(
    name="layer_norm_welford",
    cpp_sources="torch::Tensor layer_norm(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, double eps);",
    cuda_sources=src,
    functions=["layer_norm"],
)


class ModelNew(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.ln = nn.LayerNorm(dim)

    def forward(self, x):
        return ln.layer_norm(x, self.ln.weight, self.ln.bias, self.ln.eps)
