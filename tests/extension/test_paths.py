"""Torch's own headers where the light ones do not fit, and nvcc for a device: compiled here, run on one elsewhere."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kengine.errors import CandidateFault, TargetUnavailable  # noqa: E402
from kengine.extension import Settings, load_inline  # noqa: E402
from kengine.extension.nvcc import device_command, find_toolkit  # noqa: E402

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
    with pytest.raises(CandidateFault, match=r"^cuda_sources:13: .torch::nn. has not been declared"):
        load_inline("needs_torch", RUN, NEEDS_TORCH, functions=["run"], settings=settings)


@pytest.mark.slow
def test_torchs_own_headers_serve_what_the_light_ones_lack(settings: Settings) -> None:
    m = load_inline("needs_torch", RUN, NEEDS_TORCH, functions=["run"], settings=replace(settings, full_headers=True))
    assert m.path == "full"
    assert m.reason.startswith("the light headers do not fit: cuda_sources.cu:13: ")
    light = load_inline("light_one", RUN, SOURCE, functions=["run"], settings=settings)
    assert (light.path, light.reason) == ("light", "")
    for kind in (torch.float32, torch.float16):
        x = torch.randn(100).to(kind)
        m.forget_launches()
        assert torch.equal(m.run(x, 2.5), light.run(x, 2.5))
        assert [launch.grid for launch in m.launches()] == [(2, 1, 1), (2, 1, 1)]


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
