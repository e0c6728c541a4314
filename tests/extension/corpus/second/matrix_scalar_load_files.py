import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.cpp_extension import load

folder = tempfile.mkdtemp()
with open(os.path.join(folder, "scale.h"), "w") as f:
    f.write("#pragma once\n#include <torch/extension.h>\ntorch::Tensor scale_cuda(torch::Tensor a, float s);\n")
with open(os.path.join(folder, "scale_binding.cpp"), "w") as f:
    f.write(
        '#include "scale.h"\n'
        "torch::Tensor scale(torch::Tensor a, float s) { TORCH_CHECK(a.is_cuda(), \"cuda please\"); return scale_cuda(a, s); }\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale, "multiply by a scalar"); }\n'
    )
with open(os.path.join(folder, "scale_kernel.cu"), "w") as f:
    f.write(
        '#include "scale.h"\n'
        "__global__ void scale_kernel(const float* a, float* c, float s, int64_t n) {\n"
        "  int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;\n"
        "  if (i < n) c[i] = a[i] * s;\n}\n"
        "torch::Tensor scale_cuda(torch::Tensor a, float s) {\n"
        "  auto c = torch::empty_like(a);\n"
        "  scale_kernel<<<(a.numel() + 511) / 512, 512>>>(a.data_ptr<float>(), c.data_ptr<float>(), s, a.numel());\n"
        "  return c;\n}\n"
    )
ext = load(name="scale_files", sources=[os.path.join(folder, "scale_binding.cpp"), os.path.join(folder, "scale_kernel.cu")], extra_include_paths=[folder], verbose=False)


class ModelNew(nn.Module):
    def forward(self, A, s):
        return ext.scale(A, s)
