import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
template <typename T>
__host__ __device__ __forceinline__ T ceil_div_t(T a, T b) { return (a + b - 1) / b; }
template <typename scalar_t>
__global__ void bilinear(const scalar_t* __restrict__ in, scalar_t* __restrict__ out, int nc, int h, int w, int oh, int ow, float rh, float rw) {
  const int ox = threadIdx.x + blockDim.x * blockIdx.x, oy = threadIdx.y + blockDim.y * blockIdx.y;
  if (ox >= ow || oy >= oh) return;
  float fy = fmaxf((oy + 0.5f) * rh - 0.5f, 0.f), fx = fmaxf((ox + 0.5f) * rw - 0.5f, 0.f);
  int y0 = (int)fy, x0 = (int)fx;
  int y1 = y0 + (y0 < h - 1), x1 = x0 + (x0 < w - 1);
  float ly = fy - y0, lx = fx - x0;
  for (int k = blockIdx.z; k < nc; k += gridDim.z) {
    const scalar_t* p = in + k * h * w;
    out[(k * oh + oy) * ow + ox] = (1 - ly) * ((1 - lx) * p[y0 * w + x0] + lx * p[y0 * w + x1]) + ly * ((1 - lx) * p[y1 * w + x0] + lx * p[y1 * w + x1]);
  }
}
at::Tensor upsample(const at::Tensor& input, at::IntArrayRef output_size) {
  const int64_t n = input.size(0), c = input.size(1), h = input.size(2), w = input.size(3);
  auto output = at::empty({n, c, output_size[0], output_size[1]}, input.options());
  const dim3 block(32, 8);
  const dim3 grid(ceil_div_t<int>(output_size[1], block.x), ceil_div_t<int>(output_size[0], block.y), std::min<int64_t>(n * c, 8));
  AT_DISPATCH_FLOATING_TYPES(input.scalar_type(), "bilinear", [&] {
    bilinear<<<grid, block>>>(input.data_ptr<scalar_t>(), output.data_ptr<scalar_t>(), (int)(n * c), (int)h, (int)w, (int)output_size[0], (int)output_size[1],
                              (float)h / output_size[0], (float)w / output_size[1]);
  });
  return output;
}
"""
ext = load_inline(name="up2", cpp_sources="at::Tensor upsample(const at::Tensor& input, at::IntArrayRef output_size);", cuda_sources=src, functions=["upsample"])


class ModelNew(nn.Module):
    def forward(self, x):
        return ext.upsample(x, [x.shape[2] * 2, x.shape[3] * 2])
