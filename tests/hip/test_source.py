"""Telling device code, host code and CUDA's spellings apart by the text."""

from __future__ import annotations

import pytest
from kengine_hip.differences import find_differences
from kengine_hip.source import has_host_code, is_cuda, needs_standard, with_instances, without_host

EXTENSION = """#include <torch/extension.h>
#include <hip/hip_runtime.h>
using namespace torch;
constexpr int BLOCK = 256;
struct Pair { float a, b; };
__device__ float twice(float v) { return 2.0f * v; }
template <typename scalar_t>
__global__ void scale(const scalar_t* x, scalar_t* y, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) y[i] = twice(x[i]);
}
static int blocks(int n) { return (n + BLOCK - 1) / BLOCK; }
torch::Tensor run(torch::Tensor x);
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);  // }
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scale", [&] {
    scale<scalar_t><<<blocks(x.numel()), BLOCK>>>(x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
  });
  return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""


def test_host_code_is_blanked_and_lines_stay() -> None:
    part = without_host(EXTENSION)
    assert part.text.count("\n") == EXTENSION.count("\n")
    lines = part.text.split("\n")
    assert lines[7] == EXTENSION.split("\n")[7] and "return twice" not in part.text
    for gone in ("torch", "PYBIND11", "blocks(int n)", "AT_DISPATCH"):
        assert gone not in part.text
    for kept in ("constexpr int BLOCK", "struct Pair", "__device__ float twice", "__global__ void scale"):
        assert kept in part.text
    assert part.instances == ("scale<float>", "scale<double>", "scale<__half>")
    assert part.unknown == ()


def test_kernels_alone_have_no_host_code() -> None:
    text = 'extern "C" {\n__global__ void k(float* y) { if (y) { y[0] = 1; } }\n}\nnamespace a { __device__ int v; }\n'
    assert not has_host_code(text) and not needs_standard(text)
    assert without_host(text).text == text
    assert has_host_code(text + "int main() { return 0; }") and needs_standard("int f() { return std::max(1, 2); }")


def test_instances_that_the_text_does_not_show() -> None:
    text = "template <class T> __global__ void k(T* y) { y[0] = 1; }\nvoid run(float* y) { k<<<1, 64>>>(y); }\n"
    assert without_host(text).unknown == ("k",)


@pytest.mark.parametrize(
    ("text", "cuda"),
    [
        ("#include <cuda_runtime.h>\n", True),
        ("#include <cuda_fp16.h>\n", True),
        ("__global__ void k(__nv_bfloat16* x) {}", True),
        ("void f() { cudaMalloc(0, 1); }", True),
        ("#include <hip/hip_runtime.h>\n// cudaMalloc in a comment\n", False),
        ('const char* s = "cudaMalloc";', False),
        ("void f() { hipMalloc(0, 1); at::cuda::getCurrentCUDAStream(); }", False),
    ],
)
def test_cuda_is_told_by_its_names(text, cuda) -> None:
    assert is_cuda(text) is cuda


def test_differences_have_lines() -> None:
    text = (
        '__global__ void k(float* y) {\n  asm volatile("mov.u32 %0, 1;");\n  y[0] = __ballot_sync(0xffffffff, 1);\n}\n'
    )
    assert find_differences(text) == [
        (2, "inline PTX has no meaning for AMD"),
        (3, "lane masks have 64 bits on AMD: 0xffffffffffffffffULL"),
    ]
    assert find_differences("// asm volatile\n") == []


def test_instances_are_named_behind_the_source() -> None:
    assert with_instances("x\n", ()) == "x\n"
    made = with_instances("x\n", ("k<float>",))
    assert made.startswith("x\n\n") and "&k<float>" in made and "hip_bf16" not in made
    assert "hip_bf16.h" in with_instances("x\n", ("k<__half>",))
