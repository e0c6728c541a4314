"""Torch's own headers where the light ones do not fit, and nvcc for a device: compiled here, run on one elsewhere."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kengine.errors import CandidateFault, TargetUnavailable  # noqa: E402
from kengine.extension import Extension, Settings, full, load_inline  # noqa: E402
from kengine.extension.nvcc import device_command, find_toolkit  # noqa: E402
from kengine.extension.sources import SourceSet  # noqa: E402
from kengine.simt import FaultKind, KernelFault  # noqa: E402

SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAGuard.h>
template <typename scalar_t>
__global__ void scale(const scalar_t* x, scalar_t* y, scalar_t a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
torch::Tensor run(torch::Tensor x, double a) {
  TORCH_CHECK(x.type().is_cuda(), "x must be a CUDA tensor");
  TORCH_CHECK(x.is_cuda() && x.device().is_cuda() && x.device().type() == torch::kCUDA, "x must be on the device");
  const at::cuda::OptionalCUDAGuard guard(device_of(x));
  auto y = torch::empty_like(x);
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "run", [&] {
    scale<scalar_t><<<(x.numel() + 63) / 64, 64, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), static_cast<scalar_t>(a), x.numel());
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
"""
RUN = "torch::Tensor run(torch::Tensor x, double a);"
NEEDS_TORCH = SOURCE.replace(
    "auto y = torch::empty_like(x);", "auto y = torch::nn::functional::relu(torch::empty_like(x));"
)


def test_the_reason_is_told_when_the_light_headers_do_not_fit(settings: Settings) -> None:
    with pytest.raises(CandidateFault, match=r"^cuda_sources:14: .torch::nn. has not been declared") as caught:
        load_inline("needs_torch", RUN, NEEDS_TORCH, functions=["run"], settings=settings)
    assert (caught.value.status, caught.value.line) == ("unsupported", 14)


@pytest.mark.parametrize(
    ("statement", "status", "word"),
    [
        ("at::globalContext();", "unsupported", "globalContext"),
        ("c10::Dispatcher::singleton();", "unsupported", "Dispatcher"),
        ("at::TensorIteratorConfig config;", "unsupported", "TensorIteratorConfig"),
        ("using at::TensorIterator;", "unsupported", "TensorIterator"),
        ("x.unsafeGetTensorImpl();", "unsupported", "unsafeGetTensorImpl"),
        ("using namespace at; globalContext();", "unsupported", "globalContext"),
        ("using namespace torch; nn::functional::relu(x);", "unsupported", "nn"),
        ("auto y = special_erf(x);", "unsupported", "special_erf"),
        ("torch::emptylike(x);", "compile_failed", "emptylike"),
        ("x.no_such_method_of_torch();", "compile_failed", "no_such_method_of_torch"),
        ("torch::empty_like(xx);", "compile_failed", "xx"),
    ],
)
def test_a_name_that_only_torchs_headers_have_is_no_fault_of_the_candidate(
    statement: str, status: str, word: str, settings: Settings
) -> None:
    source = f"#include <torch/extension.h>\ntorch::Tensor run(torch::Tensor x) {{\n  {statement}\n  return x;\n}}\n"
    with pytest.raises(CandidateFault) as caught:
        load_inline("lacking", "torch::Tensor run(torch::Tensor x);", source, functions=["run"], settings=settings)
    assert (caught.value.status, caught.value.line) == (status, 3)
    assert word in caught.value.message and caught.value.message.startswith("cuda_sources:3: ")
    assert ("the light ones do not" in caught.value.message) == (status == "unsupported")


def test_the_environment_says_which_headers_are_used(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    reasons: list[str] = []

    def build_full(sources: SourceSet, how: Settings, reason: str) -> Extension:
        reasons.append(reason)
        return Extension(sources.name, how.cache, "full", reason, None)

    monkeypatch.setattr(full, "build", build_full)
    either = replace(settings, full_headers=True)

    def path(how: Settings, source: str = SOURCE) -> str:
        return load_inline("chosen", RUN, source, functions=["run"], settings=how).path

    assert (path(either), path(either, NEEDS_TORCH)) == ("light", "full")
    assert path(replace(either, light_headers=False)) == "full"
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", "full")
    made = load_inline("chosen", RUN, SOURCE, functions=["run"], settings=settings)
    assert made.describe() == {"name": "chosen", "headers": "full", "reason": "torch's own headers are asked for"}
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", "light")
    assert path(replace(either, light_headers=False)) == "light"
    with pytest.raises(CandidateFault, match="torch::nn"):
        path(either, NEEDS_TORCH)
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", "auto")
    assert path(settings, NEEDS_TORCH) == "full"
    assert reasons[0].startswith("the light headers do not fit: cuda_sources.cu:14: ")
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", "heavy")
    with pytest.raises(
        CandidateFault, match="KENGINE_EXTENSION_HEADERS is 'heavy'; expected auto, light or full"
    ) as caught:
        path(settings)
    assert caught.value.status == "unsupported"


@pytest.mark.slow
def test_torchs_own_headers_serve_what_the_light_ones_lack(settings: Settings) -> None:
    m = load_inline("needs_torch", RUN, NEEDS_TORCH, functions=["run"], settings=replace(settings, full_headers=True))
    assert m.path == "full"
    assert m.reason.startswith("the light headers do not fit: cuda_sources.cu:14: ")
    light = load_inline("light_one", RUN, SOURCE, functions=["run"], settings=settings)
    assert (light.path, light.reason) == ("light", "")
    for kind in (torch.float32, torch.float16):
        x = torch.randn(100).to(kind)
        m.forget_launches()
        assert torch.equal(m.run(x, 2.5), light.run(x, 2.5))
        assert [launch.grid for launch in m.launches()] == [(2, 1, 1), (2, 1, 1)]


BELOW = r"""
#include <torch/extension.h>
#include <ATen/AccumulateType.h>
static_assert(std::is_same_v<at::acc_type<c10::Half, true>, float>);
__global__ void relu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i + %d] > 0.f ? x[i + %d] : 0.f;
}
torch::Tensor run(torch::Tensor x) {
  at::globalContext().lazyInitCUDA();
  auto held = c10::GetAllocator(c10::DeviceType::CUDA)->allocate(x.numel() * sizeof(float));
  auto* middle = static_cast<float*>(held.get());
  using Empty = at::Tensor(const at::Tensor&, std::optional<at::ScalarType>, std::optional<at::Layout>,
                           std::optional<at::Device>, std::optional<bool>, std::optional<at::MemoryFormat>);
  auto make = c10::Dispatcher::singleton().findSchemaOrThrow("aten::empty_like", "").typed<Empty>();
  auto y = make.call(x, std::nullopt, std::nullopt, std::nullopt, std::nullopt, std::nullopt);
  int n = x.numel();
  relu<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), middle, n);
  relu<<<(n + 63) / 64, 64>>>(middle, y.data_ptr<float>(), n);
  return y;
}
"""


@pytest.mark.slow
def test_memory_from_below_the_operators_is_known_and_bounded(settings: Settings) -> None:
    how = replace(settings, full_headers=True, check=True)
    declared = "torch::Tensor run(torch::Tensor x);"
    x = torch.randn(100)
    right = load_inline("below", declared, BELOW % (0, 0), functions=["run"], settings=how)
    assert right.path == "full" and torch.equal(right.run(x), torch.relu(x))
    beyond = load_inline("beyond", declared, BELOW % (1, 1), functions=["run"], settings=how)
    with pytest.raises(KernelFault) as caught:
        beyond.run(x)
    fault = caught.value.fault
    assert (fault.kind, fault.argument, fault.byte_offset) == (FaultKind.OUT_OF_BOUNDS_READ, "x", 400)


def test_flags_of_nvcc_are_those_of_torch_and_the_candidates_win() -> None:
    try:
        kit = find_toolkit()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    plain = device_command(kit, "sm_90", [], [])
    assert "-arch=sm_90" in plain and "-std=c++17" in plain and "-D__CUDA_NO_HALF_OPERATORS__" in plain
    own = device_command(kit, "sm_90", ["-gencode=arch=compute_80,code=sm_80", "-std=c++20"], [])
    assert "-arch=sm_90" not in own and "-std=c++17" not in own and own[-1] == "-std=c++20"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["relu_checks", "swish_accessor", "rms_norm_bf16_helpers", "conv2d_im2col", "embedding_gather"]
)
def test_candidates_compile_and_load_with_nvcc(name: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        find_toolkit()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    from kengine.extension import install

    undo = install(replace(settings, mode="nvcc", arch="sm_90"))
    try:
        path = Path(__file__).parent / "corpus" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        undo()
    (extension,) = [v for v in vars(module).values() if type(v).__name__ == "Extension"]
    assert (extension.path, extension.program, extension.launches()) == ("light", None, [])
    assert extension.library.stat().st_size > 10_000


@pytest.mark.slow
def test_nvcc_errors_name_the_candidates_line(settings: Settings) -> None:
    try:
        find_toolkit()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    with pytest.raises(CandidateFault) as caught:
        load_inline(
            "wrong",
            RUN,
            SOURCE.replace("a * x[i]", "a * z[i]"),
            functions=["run"],
            settings=replace(settings, mode="nvcc"),
        )
    assert (caught.value.status, caught.value.line) == ("compile_failed", 8)
    assert caught.value.message == 'cuda_sources:8: identifier "z" is undefined'


@pytest.mark.slow
def test_bindings_in_a_device_source_compile_with_nvcc(settings: Settings) -> None:
    try:
        find_toolkit()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    source = (
        "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { return x + 1; }\n"
        'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }\n'
    )
    m = load_inline("device_bindings", "", source, settings=replace(settings, mode="nvcc"))
    # No kernel is launched, and the tensor is the host's: is_cuda() says so on a device build.
    assert m.f(torch.ones(2)).tolist() == [2.0, 2.0]


def test_torchs_own_headers_have_their_time_and_what_takes_longer_is_no_fault_of_the_candidate(
    settings: Settings, tmp_path: Path
) -> None:
    text = "#include <torch/extension.h>\nint f() { return torch::nn::functional::relu(torch::zeros({2})).numel(); }"
    how = replace(settings, cache=tmp_path, tools=settings.shared, full_headers=True, full_seconds=0.2)
    with pytest.raises(CandidateFault, match=r"cpp_sources.cpp:2: 'torch::nn' .* has not finished after 0 s") as caught:
        load_inline("slow", text, "__global__ void k() {}", functions=["f"], settings=how)
    assert caught.value.status == "unsupported"
