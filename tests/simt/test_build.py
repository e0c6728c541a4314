# ruff: noqa: E501  (device sources)
"""Compiling: errors with the candidate's lines, the cache, what is refused."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kengine.simt import CompileError, CompilerMissing, DeviceLimits, Unsupported, build, find_unsupported, toolchain


def test_compile_error_has_the_candidates_line(compile_source: Any, check: bool) -> None:
    with pytest.raises(CompileError) as caught:
        compile_source(
            "__global__ void k(float* y) {\n  __shared__ float s[4];\n  if (y[0] > 0) return;\n  y[0] = undeclared_name;\n}\n",
            check=check,
        )
    assert caught.value.line == 4
    assert (
        "kernel.cu:4" in str(caught.value)
        and "undeclared_name" in str(caught.value)
        and "undeclared_name" in caught.value.log
    )


def test_error_in_a_launch_names_its_line(compile_source: Any) -> None:
    with pytest.raises(CompileError) as caught:
        compile_source("__global__ void k(float* y, int n) {}\n\nvoid host(float* y) {\n  k<<<1, 1>>>(y);\n}")
    assert caught.value.line == 4


def test_static_shared_memory_over_several_lines_keeps_lines(compile_source: Any) -> None:
    with pytest.raises(CompileError) as caught:
        compile_source("__global__ void k(float* y) {\n  __shared__\n  float s[4],\n    u[2];\n  s[0] = wrong;\n}")
    assert caught.value.line == 5


@pytest.mark.parametrize("source", ["", "\n\n", "// nothing\n"])
def test_source_without_kernels(compile_source: Any, source: str) -> None:
    assert compile_source(source).kernels == {}


def test_text_that_is_no_source(compile_source: Any) -> None:
    with pytest.raises(CompileError, match=r"NUL"):
        compile_source("int a;\n\0\1\2")
    with pytest.raises(CompileError, match=r"largest accepted"):
        compile_source("/" * (9 << 20))
    with pytest.raises(CompileError):
        compile_source("__global__ void k(")
    with pytest.raises(CompileError):
        compile_source("\udcff\udc80 binary")


def test_undefined_function_is_a_compile_error(compile_source: Any) -> None:
    program_text = 'extern "C" float elsewhere(float);\n__global__ void k(float* y) { y[0] = elsewhere(y[0]); }'
    with pytest.raises(CompileError, match=r"kernel.cu:2: 'elsewhere' is declared but not defined"):
        compile_source(program_text)
    with pytest.raises(CompileError, match=r"kernel.cu:2: 'missing' is declared but not defined") as caught:
        compile_source(
            "__device__ float missing(float, int);\n__global__ void k(float* y) { y[0] = missing(y[0], 1); }"
        )
    assert caught.value.line == 2


def test_cache_by_content(simt_cache: Path) -> None:
    source = "__global__ void k(int* y) { y[0] = VALUE; }"
    one = build(source, cache=simt_cache, defines={"VALUE": "1"})
    again = build(source, cache=simt_cache, defines={"VALUE": "1"})
    two = build(source, cache=simt_cache, defines={"VALUE": "2"})
    assert one.library == again.library != two.library
    y = np.zeros(1, np.int32)
    for program, value in ((one, 1), (two, 2), (one, 1)):
        program.launch("k", 1, 1, (y,))
        assert y[0] == value
    assert not list(simt_cache.glob("tmp*"))


def test_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENGINE_SIMT_CXX", "no-such-compiler")
    with pytest.raises(CompilerMissing, match=r"no-such-compiler.*KENGINE_SIMT_CXX"):
        toolchain.find_compiler.__wrapped__()


UNSUPPORTED = {
    "inline assembly": 'void f() {\n  asm volatile("add.s32 %0, %1, %2;" : "=r"(a) : "r"(b), "r"(c));\n}',
    "matrix-core built-in (MFMA)": "int a;\nfloat4 v = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);",
    "CUTLASS/CuTe": "\n#include <cutlass/gemm/device/gemm.h>",
    "cuBLAS/hipBLAS": "\nvoid f() { cublasSgemm(h, a, b, m, n, k, &x, p, q, r, s, &y, c, d); }",
    "textures and surfaces": "\n__global__ void k(cudaTextureObject_t t) {}",
    "libcu++": "\n__shared__ cuda::barrier<cuda::thread_scope_block> bar;",
    "CUB": "\ntypedef cub::BlockHistogram<int, 256, 1, 8> Count;",
    "tensor map (TMA)": "\n__global__ void k(const __grid_constant__ CUtensorMap map) {}",
    "memory pools": "\nvoid f() { cudaMemPool_t pool; cudaDeviceGetDefaultMemPool(&pool, 0); }",
    "copies of three dimensions": "\nvoid f() { cudaMemcpy3DParms p; cudaMemcpy3D(&p); }",
    "arrays of textures": "\nvoid f() { cudaArray_t a; }",
    "attributes of streams": "\nvoid f(cudaStreamAttrValue* v) { cudaStreamSetAttribute(0, x, v); }",
    "memory of another process": "\nvoid f() { cudaIpcMemHandle_t h; }",
    "launch from a kernel (dynamic parallelism)": "__global__ void k() {\n  child<<<1, 1>>>();\n}",
}


@pytest.mark.parametrize("construct", UNSUPPORTED)
def test_unsupported_constructs(compile_source: Any, construct: str) -> None:
    source = UNSUPPORTED[construct]
    assert (construct, 2) in find_unsupported(source)
    with pytest.raises(Unsupported) as caught:
        compile_source(source)
    assert caught.value.line == 2


def test_words_in_comments_strings_and_names_are_no_constructs(compile_source: Any) -> None:
    source = r"""
    // asm volatile("x"); cublasSgemm(); cutlass::gemm
    /* cub::BlockReduce thrust::sort */
    const char* text = "asm(\"mov\") cute::Tensor"; const char* raw = R"(cub::x asm volatile("y"))";
    #include <cublas_v2.h>
    int my_asm = 1, casm(int x), subcub = 3; char q = '"';
    __global__ void k(int* y) { y[0] = 1'000; /* <<< >>> __shared__ float x[2]; */ }
    """.replace("#include <cublas_v2.h>", "")
    assert find_unsupported(source) == []
    y = np.zeros(1, np.int32)
    compile_source(source).launch("k", 1, 1, (y,))
    assert y[0] == 1000


def test_limits_of_known_chips() -> None:
    assert DeviceLimits.of("sm_80").shared_per_block_optin == 163 << 10
    assert DeviceLimits.of("gfx942").lanes == 64 and DeviceLimits.of("gfx1100").lanes == 32
    with pytest.raises(ValueError, match=r"'sm_1'.*known: .*sm_90"):
        DeviceLimits.of("sm_1")


def test_fault_record_of_the_runtime_matches() -> None:
    from kengine.simt.runtime import RawFault

    assert ctypes.sizeof(RawFault) % 8 == 0 and RawFault.library.offset == RawFault.pc.offset + 8
