"""C++ on the host that computes what a kernel should, and what only prepares a launch."""

from __future__ import annotations

import pytest
from kengine import lint, tasks
from kengine.model import Target

TASK = """
import torch

def make_inputs(seed, device):
    return (torch.rand(8, 16),)

def reference(x):
    return x.cumsum(1)
"""
FILE = '''
from torch.utils.cpp_extension import load_inline

CODE = r"""
#include <torch/extension.h>
__global__ void blend(const float* x, const float* z, float* y, int n) {{
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = z[i] + x[i];
}}
__global__ void sgemm(const float* x) {{}}
torch::Tensor go(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  {body}
  blend<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}}
"""
EXT = load_inline("ext", cpp_sources="torch::Tensor go(torch::Tensor x);", cuda_sources=CODE, functions=["go"])

def candidate(x):
    return EXT.go(x)
'''
COMPUTES = {
    "pointers": "auto h = x.cpu(); float *p = h.data_ptr<float>(), *q = p; "
    "for (int i = 1; i < 9; ++i) q[i] = q[i-1] + p[i];",
    "auto": "auto h = x.to(torch::kCPU); auto z = torch::zeros_like(h); auto p = h.data_ptr<float>(); "
    "auto* q = z.data_ptr<float>(); for (int i = 0; i < 9; ++i) { float s = p[i]; q[i] = s * s; }",
    "vectors": "std::vector<float> h(x.numel()), z(x.numel()); cudaMemcpy(h.data(), x.data_ptr<float>(), 9, "
    "cudaMemcpyDeviceToHost); float s = 0; for (int k = 0; k < 9; ++k) { s += h[k]; z[k] = s; }",
    "accessors": "auto h = x.cpu(); auto a = h.accessor<float, 2>(); float* q = new float[9]; "
    "for (int i = 0; i < 9; ++i) q[i] = q[i] + 1;",
    "in place": "auto h = x.cpu(); for (int i = 0; i < 9; ++i) h.data_ptr<float>()[i] *= 2;",
    "a product": "float one = 1; sgemm_(&one);",
    "a product by its C name": "cblas_dgemm(101);",
}
PREPARES = {
    "offsets": "auto l = x.sum().to(torch::kInt).cpu(); int* p = l.data_ptr<int>(); std::vector<int> at(9); "
    "for (int i = 1; i < 9; ++i) at[i] = at[i-1] + p[i];",
    "pointers of tiles": "auto n = x.max().cpu(); std::vector<float*> tiles(9); "
    "for (int i = 0; i < 9; ++i) tiles[i] = x.data_ptr<float>() + 9 * i;",
    "a table made on the host": "auto t = torch::empty({9}, torch::kCPU); float* p = t.data_ptr<float>(); "
    "for (int i = 1; i < 9; ++i) p[i] = p[i-1] * 0.5f;",
    "a kernel of its own by the name of a product": "sgemm<<<1, 32>>>(x.data_ptr<float>());",
    "one number": "float top = x.max().cpu().item<float>(); for (int i = 0; i < 2; ++i) top *= 2;",
}


def severities(body: str) -> list[str]:
    item = tasks.parse(FILE.format(body=body), "ext.py", task_text=TASK)
    found = lint.check(item.candidate, item.task, Target.parse("cuda:cpu")).findings
    return [f.severity for f in found if f.code == "KE405"]


@pytest.mark.parametrize("name", COMPUTES)
def test_arithmetic_on_fetched_arrays_is_rejected(name: str) -> None:
    assert severities(COMPUTES[name]) == ["reject"]


@pytest.mark.parametrize("name", PREPARES)
def test_what_prepares_a_launch_is_not(name: str) -> None:
    assert "reject" not in severities(PREPARES[name])


BY_WAY_OF = {
    "a helper": (
        "static std::vector<float> fetch(const torch::Tensor& t) { std::vector<float> v(t.numel()); "
        "cudaMemcpy(v.data(), t.data_ptr<float>(), 4 * v.size(), cudaMemcpyDeviceToHost); return v; }",
        "auto v = fetch(x); float s = std::inner_product(v.begin(), v.end(), v.begin(), 0.f);",
    ),
    "a constructor": (
        "struct Host { std::vector<float> v; explicit Host(const torch::Tensor& t) : v(t.numel()) { "
        "cudaMemcpy(v.data(), t.data_ptr<float>(), 4 * v.size(), cudaMemcpyDeviceToHost); } };",
        "Host a(x); float s = 0; for (int i = 0; i < 9; ++i) s += a.v[i];",
    ),
}


@pytest.mark.parametrize("name", BY_WAY_OF)
def test_a_loop_over_what_another_function_fetches_is_noted(name: str) -> None:
    helper, body = BY_WAY_OF[name]
    text = FILE.replace("torch::Tensor go(", helper.replace("{", "{{").replace("}", "}}") + "\ntorch::Tensor go(", 1)
    item = tasks.parse(text.format(body=body), "ext.py", task_text=TASK)
    found = lint.check(item.candidate, item.task, Target.parse("cuda:cpu")).findings
    messages = [f.message for f in found if f.code == "KE405"]
    assert len(messages) == 1 and "fetch data and loops over it on the host" in messages[0]
