"""Whole families of what host code of extensions names: types that cross from Python, headers, macros, operators."""

from __future__ import annotations

import re
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kengine.errors import CandidateFault  # noqa: E402
from kengine.extension import failure, toolkit  # noqa: E402
from kengine.extension.sources import from_inline  # noqa: E402
from kengine.pretence import Figures, pretend  # noqa: E402
from kengine.pretence.tensors import on_host  # noqa: E402
from kengine.simt import KernelFault  # noqa: E402

FORWARDED = sorted(
    str(path.relative_to(folder))
    for folder in (toolkit.ROOT / "include", toolkit.ROOT / "device")
    for path in folder.rglob("*")
    if path.is_file() and path.parts[len(folder.parts)] in ("ATen", "c10", "torch")
)

CROSSING = r"""
#include <torch/extension.h>
#include <map>
#include <unordered_map>
#include <string_view>
double first_and_last(std::tuple<double, int, std::string> t) { return std::get<0>(t) + std::get<1>(t) + std::get<2>(t).size(); }
int64_t area(std::pair<int64_t, int64_t> p) { return p.first * p.second; }
int64_t nested(const std::vector<std::pair<int, bool>>& all) { int64_t n = 0; for (auto& [i, b] : all) n += b ? i : 0; return n; }
double total(const std::map<std::string, double>& m) { double s = 0; for (auto& [k, v] : m) s += k.size() * v; return s; }
std::unordered_map<std::string, int64_t> lengths(std::unordered_map<std::string, at::Tensor> m) { std::unordered_map<std::string, int64_t> out; for (auto& [k, v] : m) out[k] = v.numel(); return out; }
std::string shout(std::string_view s) { std::string out(s); out += '!'; return out; }
"""
CROSSING_FUNCTIONS = (
    "double first_and_last(std::tuple<double, int, std::string> t)",
    "int64_t area(std::pair<int64_t, int64_t> p)",
    "int64_t nested(const std::vector<std::pair<int, bool>>& all)",
    "double total(const std::map<std::string, double>& m)",
    "std::unordered_map<std::string, int64_t> lengths(std::unordered_map<std::string, at::Tensor> m)",
    "std::string shout(std::string_view s)",
)


def test_tuples_pairs_and_dicts_cross(load: Any) -> None:
    head = "#include <map>\n#include <unordered_map>\n#include <string_view>\n"
    made = load(CROSSING, *CROSSING_FUNCTIONS, host=head)
    assert made.first_and_last((0.5, 2, "abc")) == 5.5
    assert made.first_and_last([0.5, 2, "abc"]) == 5.5
    assert made.area((3, 4)) == made.area([3, 4]) == 12
    assert made.nested([(1, True), (2, False), (4, True)]) == 5
    assert made.total({"a": 1.5, "bb": 2.0}) == 5.5
    assert made.lengths({"x": torch.zeros(3, 2), "y": torch.zeros(1)}) == {"x": 6, "y": 1}
    assert made.shout("hm") == "hm!"
    for wrong in ((1,), (1, 2, 3), 5, "ab", (1.5, 2)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            made.area(wrong)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        made.total([("a", 1.5)])
    with pytest.raises(TypeError, match="incompatible function arguments"):
        made.total({"a": "b"})


KERNELS = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAEvent.h>
#include <ATen/native/cuda/KernelUtils.cuh>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/util/MathConstants.h>
#include <c10/util/accumulate.h>

__global__ void add_at(const int64_t* at, float* y, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  CUDA_KERNEL_ASSERT(at[i] >= 0 && at[i] < m);
  CUDA_KERNEL_ASSERT_MSG(n > 0, "no elements")
  at::native::fastAtomicAdd(y, at[i], static_cast<int64_t>(m), c10::pi<float>, true);
}
torch::Tensor counted(torch::Tensor at, int64_t m) {
  auto y = torch::zeros({m}, at.options().dtype(torch::kFloat));
  at::cuda::CUDAEvent begin(cudaEventDefault), end(cudaEventDefault);
  begin.record();
  add_at<<<(at.numel() + 63) / 64, 64, 0, at::cuda::getCurrentCUDAStream()>>>(at.data_ptr<int64_t>(), y.data_ptr<float>(), at.numel(), m);
  end.record();
  end.synchronize();
  TORCH_CHECK(begin.elapsed_time(end) >= 0 && end.query() && begin.isCreated());
  y.record_stream(at::cuda::getCurrentCUDAStream());
  void* scratch = c10::cuda::CUDACachingAllocator::raw_alloc(64);
  c10::cuda::CUDACachingAllocator::raw_delete(scratch);
  return y;
}
std::vector<int64_t> facts(torch::Tensor x) {
  bool before = at::GradMode::is_enabled();
  at::AutoGradMode off(false);
  return {c10::multiply_integers(x.sizes()), c10::sum_integers(x.sizes()), before, c10::GradMode::is_enabled(), C10_WARP_SIZE_UPPER_BOUND, at::Reduction::Mean};
}
std::vector<torch::Tensor> operators(torch::Tensor x) {
  auto [y, mean, rstd] = at::native_group_norm(x, c10::nullopt, c10::nullopt, x.size(0), x.size(1), x.size(2), 2, 1e-5);
  auto [unique, inverse, counts] = at::_unique2(x.gt(0), true, true, true);
  return {y, counts, x.clone().asin_().trunc_(), x.greater_equal(0), x.logcumsumexp(1), at::column_stack({x[0], x[1]}), torch::tril_indices(3, 3), torch::eye(2, 3, x.options())};
}
"""
KERNEL_FUNCTIONS = (
    "torch::Tensor counted(torch::Tensor at, int64_t m)",
    "std::vector<int64_t> facts(torch::Tensor x)",
    "std::vector<torch::Tensor> operators(torch::Tensor x)",
)


@pytest.fixture
def kernels(load: Any) -> Any:
    return load(KERNELS, *KERNEL_FUNCTIONS, check=True)


def test_atomics_events_and_operators(kernels: Any) -> None:
    at = torch.randint(0, 5, (130,))
    torch.testing.assert_close(kernels.counted(at, 5), torch.bincount(at, minlength=5) * torch.pi)
    x = torch.rand(4, 6, 3) * 2 - 1
    assert kernels.facts(x) == [72, 13, 1, 0, 32, 1]
    assert torch.is_grad_enabled()
    got = kernels.operators(x)
    torch.testing.assert_close(got[0], torch.nn.functional.group_norm(x, 2))
    assert torch.equal(got[1], torch.unique(x > 0, return_counts=True)[1])
    assert torch.equal(got[2], x.asin().trunc()) and torch.equal(got[3], x >= 0)
    torch.testing.assert_close(got[4], x.logcumsumexp(1))
    assert torch.equal(got[5], torch.column_stack([x[0], x[1]]))
    assert torch.equal(got[6], torch.tril_indices(3, 3)) and torch.equal(got[7], torch.eye(2, 3))


def test_kernel_assertions_stop_the_kernel(kernels: Any) -> None:
    with pytest.raises(KernelFault, match="assertion failed"):
        kernels.counted(torch.tensor([0, 7]), 5)


def test_every_forwarded_header_is_one_of_torch(load: Any) -> None:
    folder = toolkit.torch_folder() / "include"
    places = (folder, folder / "torch/csrc/api/include", toolkit.ROOT / "device")
    unknown = [name for name in FORWARDED if not any((place / name).exists() for place in places)]
    assert unknown == [] and len(FORWARDED) > 150
    headers = [n for n in FORWARDED if not n.endswith("/Dispatch_v2.h") and "hip" not in n]
    text = "".join(f"#include <{n}>\n" for n in headers) + "torch::Tensor same(torch::Tensor x) { return x; }"
    assert torch.equal(load(text, "torch::Tensor same(torch::Tensor x)").same(torch.ones(2)), torch.ones(2))


@pytest.mark.parametrize(
    ("source", "lacks"),
    [
        ("#include <ATen/native/TensorIterator.h>\n", "ATen/native/TensorIterator.h"),
        ("#include <torch/csrc/jit/api/module.h>\n", "torch/csrc/jit/api/module.h"),
        ("int f() { CAFFE_ENFORCE_EQ(1, 1); return 1; }\n", "CAFFE_ENFORCE_EQ"),
    ],
)
def test_what_torch_has_and_the_light_headers_lack_is_unsupported(load: Any, source: str, lacks: str) -> None:
    with pytest.raises(CandidateFault, match=re.escape(f"torch's own headers have {lacks!r}")) as caught:
        load(source, "int f()")
    assert caught.value.status == "unsupported"


@pytest.mark.parametrize("source", ["#include <ATen/no_such.h>\n", "int f() { CHECK_INPUT_OF_MINE(1); return 1; }\n"])
def test_what_torch_lacks_too_is_the_candidates_fault(load: Any, source: str) -> None:
    with pytest.raises(CandidateFault) as caught:
        load(source, "int f()")
    assert caught.value.status == "compile_failed"


def test_a_header_that_clang_or_nvcc_misses_is_named() -> None:
    sources = from_inline("x", "", "#include <ATen/native/TensorIterator.h>\n", ["f"])
    for text in (
        "cuda_sources.cu:1:10: fatal error: 'ATen/native/TensorIterator.h' file not found",
        'cuda_sources.cu(1): catastrophic error: cannot open source file "ATen/native/TensorIterator.h"',
    ):
        assert failure.diagnose(text, sources).lacks == "ATen/native/TensorIterator.h"


PLACED = r"""
#include <torch/extension.h>
std::vector<torch::Tensor> made(torch::Tensor x) {
  auto o = x.options();
  return {torch::empty_strided({2, 3}, {3, 1}, o), torch::ones({2}, o), torch::full({2}, 1.5, o), x.new_zeros({2}), x + 1, torch::empty({2}, o), x.cpu(), x};
}
bool on_device(torch::Tensor x) { return x.is_cuda(); }
"""


def test_where_a_device_is_pretended_results_are_on_it(load: Any) -> None:
    extension = load(PLACED, "std::vector<torch::Tensor> made(torch::Tensor x)", "bool on_device(torch::Tensor x)")
    figures = Figures("sm_90", "a chip", False, (9, 0), 32, 132, 2048, 49152, 233472, 1 << 30)
    with pretend(figures, poison=True):
        x = torch.ones(3, device="cuda")
        host = torch.ones(3)
        places = [on_host(t) for t in extension.made(x)]
        asked = extension.on_device(x), extension.on_device(host)
    assert places == [False] * 6 + [True, False]
    assert asked == (True, False)
