"""NVRTC in a process of its own: what it answers, and that its end is not the caller's."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess

import pytest
from kengine.errors import CandidateFault
from kengine.native.driver import Unit
from kengine.native.lines import locate
from kengine_cuda.chips import CHIPS
from kengine_cuda.extension import instances_of
from kengine_cuda.toolchain import compiler, nvrtc
from kengine_cuda.toolchain.places import Places, find_places

FOUND = find_places()
needs_nvrtc = pytest.mark.skipif(not FOUND.nvrtc, reason="no NVRTC: pip install nvidia-cuda-nvrtc")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

# Stands for a library that ends its process over a source with the word CRASH in it, and compiles all others.
LIBRARY = r"""
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static int crashes;
const char* nvrtcGetErrorString(int code) { return code ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS"; }
int nvrtcVersion(int* major, int* minor) { *major = 99; *minor = 1; return 0; }
int nvrtcCreateProgram(void** p, const char* s, const char* n, int c, const char** h, const char** i) {
  *p = malloc(1); crashes = strstr(s, "CRASH") != 0; return 0; }
int nvrtcDestroyProgram(void** p) { free(*p); return 0; }
int nvrtcAddNameExpression(void* p, const char* n) { return 0; }
int nvrtcCompileProgram(void* p, int n, const char** o) { if (crashes) raise(SIGSEGV); return 0; }
int nvrtcGetProgramLogSize(void* p, size_t* n) { *n = 5; return 0; }
int nvrtcGetProgramLog(void* p, char* t) { memcpy(t, "said", 5); return 0; }
int nvrtcGetCUBINSize(void* p, size_t* n) { *n = 4; return 0; }
int nvrtcGetCUBIN(void* p, char* t) { memcpy(t, "code", 4); return 0; }
int nvrtcGetLoweredName(void* p, const char* n, const char** m) { *m = "_Z1f"; return 0; }
"""
PACKED = r"""
#include <torch/extension.h>
template <typename scalar_t>
__global__ void f(torch::PackedTensorAccessor32<scalar_t, 2, torch::RestrictPtrTraits> x, scalar_t* y) {
  float s = 0;
  for (int i = 0; i < x.size(1); ++i) s += x[blockIdx.x][i];
  y[blockIdx.x] = s;
}
torch::Tensor run(torch::Tensor x) {
  auto y = torch::empty({x.size(0)}, x.options());
  f<scalar_t><<<x.size(0), 1>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), y.data_ptr<scalar_t>());
  f<at::Half><<<x.size(0), 1>>>(x.packed_accessor32<at::Half, 2, torch::RestrictPtrTraits>(), y.data_ptr<at::Half>());
  return y;
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> str:
    if COMPILER is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("library")
    source, made = folder / "library.c", folder / "libnvrtc.so.99"
    source.write_text(LIBRARY)
    subprocess.run([COMPILER, "-shared", "-fPIC", "-w", str(source), "-o", str(made)], check=True)
    return str(made)


def compile_with(library: str, text: str) -> nvrtc.Compiled:
    return nvrtc.compile_source(library, text, "k.cu", ["-arch=sm_90"], ["f<int>"], {})


def test_an_answer(library: str) -> None:
    assert compile_with(library, "fine") == nvrtc.Compiled(b"code", "said", {"f<int>": "_Z1f"}, (99, 1))


def test_a_crash_is_the_compilers_and_the_next_source_is_compiled(library: str) -> None:
    with nvrtc.keeping(library):
        for _ in range(2):
            with pytest.raises(nvrtc.NvrtcCrashed, match=r"NVRTC \(libnvrtc.so.99\) itself crashed .* by SIGSEGV"):
                compile_with(library, "CRASH")
            assert compile_with(library, "fine").binary == b"code"


def test_a_crash_is_unsupported(library: str, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(compiler, "find_places", lambda: Places(library, "", ()))
    with pytest.raises(CandidateFault) as caught:
        compiler.compile_unit(
            Unit("CRASH", "k.cu", locate("CRASH", "CRASH")), CHIPS["sm_90"], tmp_path, "k.cu", "plain"
        )
    assert caught.value.status == "unsupported" and "NVRTC" in caught.value.message


def test_who_ends_the_process_once_excuses_nothing(library: str) -> None:
    with nvrtc.keeping(library):
        compile_with(library, "fine")
        process = nvrtc._kept._process
        os.kill(process.pid, signal.SIGSEGV)
        assert compile_with(library, "fine").binary == b"code"


def test_the_environment_is_that_of_the_beginning(library: str, monkeypatch) -> None:
    with nvrtc.keeping(library):
        monkeypatch.setenv("LD_PRELOAD", "/nowhere/crashes.so")
        compile_with(library, "fine")
        with open(f"/proc/{nvrtc._kept._process.pid}/environ", "rb") as environment:
            assert b"/nowhere/crashes.so" not in environment.read()


def test_the_process_ends_with_the_block(library: str) -> None:
    with nvrtc.keeping(library):
        compile_with(library, "fine")
        pid = nvrtc._kept._process.pid
    assert not os.path.exists(f"/proc/{pid}")


@needs_nvrtc
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_packed_accessors_of_templates(arch: str, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(compiler, "find_places", lambda: Places(FOUND.nvrtc, "", FOUND.includes))
    unit = Unit(PACKED, "k.cu", locate(PACKED, PACKED), (), instances_of(PACKED))
    made = compiler.compile_unit(unit, CHIPS[arch], tmp_path, "k.cu", "extension")
    assert {"f<float>", "f<c10::Half>"} <= set(made.symbols) and made.by.startswith("nvrtc")


@needs_nvrtc
def test_headers_that_have_the_other_long_integer(monkeypatch, tmp_path) -> None:
    text = """#include <type_traits>
__global__ void g(float* x, int64_t n) {
  static_assert(std::is_same<int, int>::value, "");
  x[n] = 1;
}
"""
    monkeypatch.setattr(compiler, "find_places", lambda: Places(FOUND.nvrtc, "", FOUND.includes))
    made = compiler.compile_unit(Unit(text, "k.cu", locate(text, text)), CHIPS["sm_90"], tmp_path, "k.cu", "file")
    assert "g" in made.symbols
