"""Headers of torch's own kernels that the light ones stand in for: ranges, dimensions, reductions, dispatch."""

from __future__ import annotations

import re
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kengine.errors import CandidateFault  # noqa: E402
from kengine.extension.toolkit import definitions  # noqa: E402

DEVICE = r"""
#include <torch/extension.h>
#include <ATen/Dispatch_v2.h>
#include <ATen/Parallel.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/cuda/block_reduce.cuh>
#include <c10/cuda/CUDAMathCompat.h>

template <typename T>
__device__ T first_of(const torch::TensorAccessor<T, 1, torch::RestrictPtrTraits, int32_t> row) { return row[0]; }

template <typename T>
__global__ void reduce(torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> x, T* y, int mode) {
  __shared__ T shared[32];
  T sum = T(0), top = x[blockIdx.x][0];
  for (int i = threadIdx.x; i < x.size(1); i += blockDim.x) {
    sum += c10::cuda::compat::exp(x[blockIdx.x][i]);
    top = c10::cuda::compat::max(top, x[blockIdx.x][i]);
  }
  sum = at::native::cuda_utils::BlockReduceSum(sum, shared);
  top = at::native::cuda_utils::WarpReduceMax(top);
  if (threadIdx.x == 0) y[blockIdx.x] = mode == 0 ? sum : mode == 1 ? first_of<T>(x[blockIdx.x]) : top;
}
torch::Tensor reduced(torch::Tensor x, int mode, int threads) {
  auto y = torch::empty({x.size(0)}, x.options());
  AT_DISPATCH_V2(x.scalar_type(), "reduced", AT_WRAP([&] {
    const auto rows = x.size(0), unused = rows;
    auto a = x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>();
    reduce<scalar_t><<<rows, threads>>>(a, y.data_ptr<scalar_t>(), mode);
  }), AT_EXPAND(AT_FLOATING_TYPES));
  return y;
}
int64_t wrapped(torch::Tensor x, int64_t dim) { return at::maybe_wrap_dim(dim, x.dim()); }
std::vector<int64_t> range(int64_t n) {
  std::vector<int64_t> out(n);
  at::parallel_for(0, n, 1, [&](int64_t begin, int64_t end) {
    for (const auto i : c10::irange(begin, end)) out[i] = i * i;
  });
  out.push_back(at::parallel_reduce(0, n, 1, int64_t(0), [&](int64_t b, int64_t e, int64_t s) {
    for (auto i = b; i < e; ++i) s += out[i];
    return s;
  }, std::plus<int64_t>()));
  return out;
}
torch::Tensor moved(torch::Tensor x) { return x.to(torch::kCPU, /*non_blocking=*/true).to(torch::kDouble, false, true); }
"""
DECLARATIONS = (
    "torch::Tensor reduced(torch::Tensor x, int mode, int threads)",
    "int64_t wrapped(torch::Tensor x, int64_t dim)",
    "std::vector<int64_t> range(int64_t n)",
    "torch::Tensor moved(torch::Tensor x)",
)


@pytest.fixture
def made(load: Any) -> Any:
    return load(DEVICE, *DECLARATIONS, check=True)


def test_names_of_torchs_own_kernels(made: Any) -> None:
    x = torch.randn(3, 70)
    torch.testing.assert_close(made.reduced(x, 0, 64), x.exp().sum(1))
    assert torch.equal(made.reduced(x, 1, 64), x[:, 0])
    assert torch.equal(made.reduced(x, 2, 32), x.max(1).values)
    torch.testing.assert_close(made.reduced(x.double(), 0, 64), x.double().exp().sum(1))
    with pytest.raises(Exception, match=re.escape("\"reduced\" not implemented for 'Half'")):
        made.reduced(x.half(), 0, 64)


def test_dimensions_ranges_and_conversions_on_the_host(made: Any) -> None:
    x = torch.randn(3, 70)
    assert [made.wrapped(x, d) for d in (-2, -1, 0, 1)] == [0, 1, 0, 1]
    with pytest.raises(IndexError, match=re.escape("expected to be in range of [-2, 1], but got 2")):
        made.wrapped(x, 2)
    assert made.range(5) == [0, 1, 4, 9, 16, 30]
    moved = made.moved(x)
    assert moved.dtype is torch.float64 and torch.equal(moved, x.double())


OPERATORS = r"""
#include <torch/extension.h>
__global__ void twice(const float* x, float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x]; }
at::Tensor on_device(const at::Tensor& x, double scale) {
  auto y = at::empty_like(x);
  twice<<<1, 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y * scale;
}
at::Tensor on_host(const at::Tensor& x, double scale) { return x - 1000; }
at::Tensor shape_only(const at::Tensor& x, double scale) { return at::empty_like(x); }
TORCH_LIBRARY(light_keys, m) {
  m.def("a(Tensor x, float scale=1.0) -> Tensor");
  m.def("b(Tensor x, float scale=1.0) -> Tensor");
  m.impl("a", c10::DispatchKey::CUDA, TORCH_FN(on_device));
  m.impl("a", torch::kCPU, &on_host);
  m.impl("b", torch::dispatch(c10::DispatchKey::CUDA, TORCH_FN(on_device)));
}
TORCH_LIBRARY_IMPL(light_keys, Meta, m) { m.impl("a", TORCH_FN(shape_only)); }
"""


def test_dispatch_keys(load: Any) -> None:
    made = load(OPERATORS, functions=[], is_python_module=False)
    made.forget_launches()
    x = torch.arange(5.0)
    assert torch.equal(torch.ops.light_keys.a(x), 2 * x)
    assert torch.equal(torch.ops.light_keys.a(x, 1.0), 2 * x)  # of which the dispatcher leaves out the default
    assert torch.equal(torch.ops.light_keys.b(x, scale=3.0), 6 * x)
    assert [record.kernel for record in made.launches()] == ["twice"] * 3
    assert torch.ops.light_keys.a(torch.empty(7, 3, device="meta")).shape == (7, 3)


def test_the_standard_library_of_libcudacxx_needs_no_header(load: Any) -> None:
    made = load(
        """
        __global__ void limits(float* y) {
          y[0] = cuda::std::numeric_limits<float>::max();
          y[1] = cuda::maximum<float>()(1.0f, 2.0f);
          y[2] = cuda::std::min(3, 2);
        }
        torch::Tensor values() {
          auto y = torch::zeros({3}, torch::device(torch::kCUDA));
          limits<<<1, 1>>>(y.data_ptr<float>());
          return y;
        }
        """,
        "torch::Tensor values()",
    )
    assert made.values().tolist() == [torch.finfo(torch.float32).max, 2.0, 2.0]


def test_flags_are_split_as_a_shell_splits_them(load: Any) -> None:
    made = load(
        "int64_t sum() { return FIRST + SECOND; }",
        "int64_t sum()",
        extra_cuda_cflags=["-O3 -DFIRST=4", "-D SECOND=5 --use_fast_math"],
    )
    assert made.sum() == 9


def test_a_scalar_crosses_the_dispatcher_and_no_binding_as_with_torch(load: Any) -> None:
    text = """
    torch::Tensor shifted(const torch::Tensor& x, const at::Scalar& by) { return x + by.to<double>(); }
    at::Scalar seven() { return 7; }
    TORCH_LIBRARY(light_scalars, m) { m.def("shifted(Tensor x, Scalar by=1) -> Tensor", &shifted); }
    """
    made = load(text, "torch::Tensor shifted(const torch::Tensor& x, const at::Scalar& by)", "at::Scalar seven()")
    with pytest.raises(RuntimeError, match="loading for c10::Scalar NYI"):
        made.shifted(torch.zeros(2), 3)
    assert made.seven() == 7
    assert torch.ops.light_scalars.shifted(torch.zeros(2), 3).tolist() == [3.0, 3.0]
    assert torch.ops.light_scalars.shifted(torch.zeros(2)).tolist() == [1.0, 1.0]


SMALL = r"""
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
#include <ATen/OpMathType.h>
#include <ATen/ceil_div.h>
#include <ATen/cuda/CUDAApplyUtils.cuh>
static_assert(std::is_same_v<at::acc_type<c10::Half, true>, float> && std::is_same_v<at::acc_type<float, false>, double>);
static_assert(std::is_same_v<at::opmath_type<at::BFloat16>, float>);
static_assert(torch::kFloat32 == at::kFloat && torch::kInt64 == at::kLong && torch::kF16 == c10::kHalf);
int64_t blocks(int64_t n) {
  return at::ceil_div(n, int64_t(256)) + 10 * at::round_up(int(n), 16) + 1000000 * at::cuda::ATenCeilDiv(n, n - 1);
}
torch::Tensor zeros(torch::Tensor x) {
  torch::ScalarType own = x.type().scalarType();
  TORCH_CHECK(own == torch::kFloat32 && x.type().is_cuda(), "a float on the device");
  return torch::zeros({2}, x.type()) + std::get<1>(torch::var_mean(x, /*unbiased=*/false));
}
"""


def test_small_headers_of_torch_have_what_the_large_one_has_not(load: Any) -> None:
    m = load(SMALL, "int64_t blocks(int64_t n)", "torch::Tensor zeros(torch::Tensor x)")
    assert m.blocks(1000) == 4 + 10 * 1008 + 1000000 * 2
    assert m.zeros(torch.full((3,), 5.0)).tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    "statement",
    [
        "int n = at::ceil_div(5, 2);",
        "using T = at::acc_type<float, true>;",
        "using T = at::opmath_type<at::Half>;",
        "auto n = at::cuda::ATenCeilDiv(5, 2);",
        "auto t = at::kFloat32;",
        "auto t = torch::kBF16;",
        "auto y = x.T();",
        "auto y = x.view_as_real();",
        "auto [a, b] = x.var_mean();",
        "at::ScalarType t = x.type();",
        'AT_DISPATCH_ALL_TYPES_AND_HALF(x.scalar_type(), "f", [&] { (void)sizeof(scalar_t); });',
        pytest.param(
            'AT_DISPATCH_FLOATING_TYPES(x.type(), "f", [&] { (void)sizeof(scalar_t); });',
            marks=pytest.mark.skipif(not definitions(), reason="torch of this version dispatches on x.type()"),
        ),
    ],
)
def test_what_torch_refuses_is_refused(statement: str, load: Any) -> None:
    source = f"#include <torch/extension.h>\nint64_t run(torch::Tensor x) {{\n  {statement}\n  return 0;\n}}\n"
    with pytest.raises(CandidateFault) as caught:
        load(source, "int64_t run(torch::Tensor x)")
    assert caught.value.line == 3


def test_numbers_of_two_types_have_no_quotient(load: Any) -> None:
    source = "#include <ATen/ceil_div.h>\nint64_t run(int64_t n) {\n  return at::ceil_div(n, 256);\n}\n"
    with pytest.raises(CandidateFault, match=r"^cuda_sources:3: no matching function") as caught:
        load(source, "int64_t run(int64_t n)")
    assert caught.value.status == "compile_failed"
