"""Host code that is not run: what is certainly wrong is found, what only the emulator lacks is not held against it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from extension_corpora import HERE, collect  # noqa: E402
from kengine.errors import CandidateFault  # noqa: E402
from kengine.extension import Settings, hostcode  # noqa: E402
from kengine.extension.sources import SourceSet, from_inline  # noqa: E402

DEVICE = r"""
#include <torch/extension.h>
__device__ float twice(float x) {
  asm volatile("fma.rn.f32 %0, %1, 2.0, 0.0;" : "=f"(x) : "f"(x));
  return no_such_function_of_the_device(x);
}
__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = twice(__nvvm_anything(x[i]));
}
__host__ __device__ constexpr int blocks_for(int n) { return (n + 127) / 128; }
static constexpr int kLeast = blocks_for(1);
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty_like(x);
  STATEMENT
  scale<<<blocks_for(x.numel()) + kLeast, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""


def sources_of(statement: str) -> SourceSet:
    return from_inline("host", "torch::Tensor run(torch::Tensor x);", DEVICE.replace("STATEMENT", statement), ["run"])


@pytest.mark.parametrize(
    ("statement", "word"),
    [
        ("y.no_such_method();", "no_such_method"),
        ("torch::emptylike(x);", "emptylike"),
        ("int n = lenght;", "lenght"),
        ("int n = (5;", "expected"),
        ("launch_it(x, y);", "launch_it"),
    ],
)
def test_what_is_certainly_wrong_is_found_with_its_line(statement: str, word: str, settings: Settings) -> None:
    with pytest.raises(CandidateFault) as caught:
        hostcode.check(sources_of(statement), settings)
    assert caught.value.status == "compile_failed"
    assert caught.value.line == 15
    assert caught.value.message.startswith("cuda_sources:1") and word in caught.value.message


def test_a_function_to_bind_that_nothing_declares_is_found(settings: Settings) -> None:
    given = from_inline("host", "torch::Tensor run(torch::Tensor x);", DEVICE.replace("STATEMENT", ""), ["forward"])
    with pytest.raises(CandidateFault, match="functions names 'forward', which cpp_sources does not declare"):
        hostcode.check(given, settings)


@pytest.mark.parametrize(
    "statement",
    [
        "",
        "torch::nn::functional::relu(x);",
        "at::globalContext();",
        "cublasHandle_t handle; cublasSgemmBatched(handle);",
        "cudaLaunchAttribute attribute[2]; cudaDeviceProp p; p.clusterLaunch;",
        "CUtensorMap map{}; cuTensorMapEncodeTiled(&map);",
        "cutlass::gemm::device::Gemm<float> gemm;",
        "nvcuda::wmma::fragment<int> f;",
        "longlong4_32a v;",
        "int n = SOME_MACRO_OF_CUDA; y.no_such_method();",
    ],
)
def test_what_the_emulator_may_lack_is_not_held_against_a_candidate(statement: str, settings: Settings) -> None:
    hostcode.check(sources_of(statement), settings)


@pytest.mark.parametrize("header", ["#include <cutlass/gemm.h>", "#include <no/such/header.h>"])
def test_a_header_that_is_not_here_ends_the_check(header: str, settings: Settings) -> None:
    hostcode.check(from_inline("host", "", f"{header}\nint f() {{ return nothing_of_it; }}", None), settings)


def test_nothing_is_checked_without_what_was_precompiled(settings: Settings, tmp_path: Path) -> None:
    hostcode.check(sources_of("y.no_such_method();"), replace(settings, cache=tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_device_code_is_taken_out_line_by_line() -> None:
    text = DEVICE.replace("STATEMENT", "")
    hollow = hostcode.without_device_code(text)
    assert hollow.count("\n") == text.count("\n")
    assert "asm" not in hollow and "__nvvm_anything" not in hollow
    assert "return (n + 127) / 128;" in hollow and "scale<<<" in hollow


@pytest.mark.slow
@pytest.mark.parametrize("folder", [HERE / "corpus", HERE / "corpus" / "second"], ids=["first", "second"])
def test_no_candidate_of_the_corpora_is_refused(folder: Path, settings: Settings) -> None:
    given = [made for file in sorted(folder.glob("*.py")) for made in collect(file)]
    assert len(given) >= 60
    for sources in given:
        hostcode.check(sources, settings)
