"""What built libraries and sources of extensions say that they lean on."""

from __future__ import annotations

import ctypes
import importlib.util
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kengine.extension import calls, linkage
from kengine.native import definitions, libraries

needs = pytest.mark.skipif(
    importlib.util.find_spec("elftools") is None or not shutil.which("g++"), reason="needs pyelftools and g++"
)
SOURCE = """
#include <thread>
namespace at { struct Tensor { void* p; }; namespace _ops {
struct mm { static Tensor call(const Tensor&, const Tensor&); };
struct add_Tensor { static Tensor call(const Tensor&, const Tensor&); }; } }
extern "C" int cublasSgemm_v2(void*, int);
extern "C" int cudaLaunchKernel();
extern "C" int run(int on) {
  if (!on) return 7;
  at::Tensor a{nullptr}, b = at::_ops::mm::call(a, at::_ops::add_Tensor::call(a, a));
  std::thread([] {}).join();
  return cublasSgemm_v2(b.p, cudaLaunchKernel());
}
"""


def build(folder: Path, name: str = "libown.so") -> Path:
    vendor, source, library = folder / "libcublasLt.so.12", folder / "own.cpp", folder / name
    source.write_text(SOURCE)
    (folder / "empty.cpp").write_text("")
    command = ["g++", "-shared", f"-Wl,-soname,{vendor.name}", str(folder / "empty.cpp"), "-o", str(vendor)]
    subprocess.run(command, check=True)
    subprocess.run(["g++", "-shared", "-fPIC", str(source), "-o", str(library), "-Wl,--no-as-needed", str(vendor),
                    f"-Wl,-rpath,{folder}", "-lm"], check=True)  # fmt: skip
    return library


@needs
def test_a_library_names_what_it_needs_and_imports(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    linkage._schemas.cache_clear()
    found = linkage.read(build(tmp_path))
    assert found == linkage.Linkage(("libcublasLt.so.12",), ("at::add", "at::mm", "cublasSgemm_v2", "std::thread"))


@needs
def test_what_is_no_library_says_nothing(tmp_path: Path) -> None:
    for name, content in (("a.so", b""), ("b.so", b"\x7fELF" + b"\0" * 60), ("c.so", b"text" * 100)):
        (tmp_path / name).write_bytes(content)
        assert linkage.read(tmp_path / name) is None
    assert linkage.read(tmp_path / "missing.so") is None


@needs
def test_a_library_that_is_loaded_by_hand_is_found_and_read(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    before = libraries.mapped()
    loaded = ctypes.CDLL(str(build(tmp_path, "libmine.so")), mode=ctypes.RTLD_LOCAL | 1)
    assert loaded.run(0) == 7
    names, operators = libraries.describe(before, tmp_path)
    assert names == {"libcublasLt.so.12"} and {"at::mm", "cublasSgemm_v2"} <= operators
    assert libraries.vendors(libraries.mapped() - before) == ("libcublasLt.so.12",)
    assert libraries.describe(libraries.mapped(), tmp_path) == (set(), set())


@pytest.mark.parametrize(
    "symbol, operator",
    [
        ("cublasLtMatmul", "cublasLtMatmul"), ("cudnnConvolutionForward", "cudnnConvolutionForward"),
        ("hipblasSgemm", "hipblasSgemm"), ("rocblas_sgemm", "rocblas_sgemm"), ("miopenConvolutionForward",) * 2,
        ("cufftExecC2C", "cufftExecC2C"), ("cblas_sgemm@GLIBC_2.2", "cblas_sgemm"), ("sgemm_", "sgemm_"),
        ("_ZN3c1010Dispatcher17findSchemaOrThrowEPKcS2_", "c10::Dispatcher::findSchemaOrThrow"),
        ("_ZN2at6native9embeddingERKNS_6TensorES3_lbb", "at::native::embedding"), ("memcpy", ""), ("cudaMalloc", ""),
        ("_ZN2at15get_num_threadsEv", ""), ("_ZSt9terminatev", ""), ("simt_launch", ""), ("my_gemm", ""),
    ],
)  # fmt: skip
def test_symbols(symbol: str, operator: str) -> None:
    pytest.importorskip("torch")
    linkage._schemas.cache_clear()
    assert linkage.operators([symbol]) == ((operator,) if operator else ())


def test_ordinary_libraries_are_not_mentioned() -> None:
    given = ["libc.so.6", "libstdc++.so.6", "libm.so.6", "libtorch_cpu.so", "libtorch_cuda.so", "libc10_cuda.so",
             "libpython3.11.so.1.0", "libcudart.so.13", "libnvrtc-builtins.so.13.0", "ld-linux-x86-64.so.2",
             "libkengine_light_0a.so", "libamdhip64.so.7", "libgomp.so.1", "/x/libcudnn.so.9", "libown.so"]  # fmt: skip
    assert linkage.unusual(given) == ("libcudnn.so.9", "libown.so")


@pytest.mark.parametrize(
    "text, operators",
    [
        ("T f(T x) { return at::mm(x, x); }", ("at::mm",)),
        ("auto y = torch::nn::functional::softmax(x, 1);", ("at::softmax",)),
        ("torch::Tensor x; auto y = x.matmul(w).relu();", ("at::matmul", "at::relu")),
        ("auto y = x->view({1});", ()),
        ("torch::Tensor x = f(); auto y = x.view({1});", ("at::view",)),
        ("// at::mm(x)\n/* torch::relu(x) */ const char* s = \"at::mm(x)\";", ()),
        ("__global__ void k(float* x) { x[0] = tile.any(1) + g.sum(2) + at::mm(1); }", ()),
        ("__device__ float sigmoid(float v); float h() { return sigmoid(1) + std::exp(2) + x.size(0); }", ()),
    ],
)
def test_operators_that_a_source_calls(text: str, operators: tuple[str, ...]) -> None:
    assert calls.find_calls(text) == operators


@pytest.mark.parametrize(
    "text, names",
    [
        ("__global__ void a(int*); __global__ void a(int* x) {}", ("a",)),
        ("template <class T> __global__ void __launch_bounds__(64) b(T* x) {}", ("b",)),
        ("// __global__ void c(int* x) {}\nconst char* s = \"__global__ void d() {}\";", ()),
        ("__global__ void child(int* x) {}\n__global__ void parent(int* x) { child<<<1, 1>>>(x); }", ("parent",)),
        ("#define MAKE(NAME) \\\n  __global__ void NAME(int* x) {}\nMAKE(e)\n__global__ void f(int* x) {}", ("f",)),
        ("__device__ int g(int x) { return x; }", ()),
        ("", ()),
    ],
)
def test_kernels_that_a_source_defines(text: str, names: tuple[str, ...]) -> None:
    assert definitions.find_in([text, text]) == names


def test_names_of_launched_kernels() -> None:
    given: list[Any] = ["scale", "(scale)", "a::b::scale<float, 4>", "scale<std::pair<a::b, c>>"]
    assert {definitions.bare_name(name) for name in given} == {"scale"}
