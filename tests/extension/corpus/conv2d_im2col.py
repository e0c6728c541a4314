import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

cpp = r"""
#include <torch/extension.h>
#include <vector>
void im2col_launcher(const at::Tensor& x, at::Tensor& cols, int k, int pad);

at::Tensor conv_forward(at::Tensor x, at::Tensor w, const std::vector<int64_t>& padding, py::object bias) {
  TORCH_CHECK(padding.size() == 2, "padding must have two values");
  int64_t N = x.size(0), O = w.size(0), k = w.size(2);
  int64_t oh = x.size(2) + 2 * padding[0] - k + 1, ow = x.size(3) + 2 * padding[1] - k + 1;
  at::Tensor cols = at::empty({N, x.size(1) * k * k, oh * ow}, x.options());
  im2col_launcher(x.contiguous(), cols, (int)k, (int)padding[0]);
  at::Tensor out = at::matmul(w.reshape({O, -1}).unsqueeze(0), cols).reshape({N, O, oh, ow});
  if (!bias.is_none()) out = out + bias.cast<at::Tensor>().view({1, -1, 1, 1});
  return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("conv_forward", &conv_forward, "im2col convolution", py::arg("x"), py::arg("w"), py::arg("padding"), py::arg("bias") = py::none());
}
"""
cu = r"""
__global__ void im2col(const float* x, float* cols, int C, int H, int W, int k, int pad, int oh, int ow, int total) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  int p = i % (oh * ow), r = (i / (oh * ow)) % (C * k * k), n = i / (oh * ow * C * k * k);
  int kw = r % k, kh = (r / k) % k, c = r / (k * k);
  int h = p / ow + kh - pad, w = p % ow + kw - pad;
  cols[i] = (h >= 0 && w >= 0 && h < H && w < W) ? x[((n * C + c) * H + h) * W + w] : 0.f;
}
void im2col_launcher(const at::Tensor& x, at::Tensor& cols, int k, int pad) {
  int H = x.size(2), W = x.size(3);
  im2col<<<(cols.numel() + 127) / 128, 128>>>(x.data_ptr<float>(), cols.data_ptr<float>(), x.size(1), H, W, k, pad, H + 2 * pad - k + 1, W + 2 * pad - k + 1, cols.numel());
}
"""
conv = load_inline("conv_im2col", cpp, cu)


class ModelNew(nn.Module):
    def __init__(self, i, o, k):
        super().__init__()
        self.conv = nn.Conv2d(i, o, k, padding=1)

    def forward(self, x):
        return conv.conv_forward(x, self.conv.weight, [1, 1], bias=self.conv.bias)
