# ruff: noqa: E501  (device sources)
"""Host code in the source: launches in all their spellings, the runtime API, streams and events as order."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kengine.simt import FaultKind, KernelFault, LaunchError, LaunchRefused

HOST = """
#include <cuda_runtime.h>
#include <cstdio>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { fprintf(stderr, "%s", cudaGetErrorString(e)); return (int)e; } } while (0)
namespace ops {
template <typename T, int N>
__global__ void fill(T* out, T v, int n) { int i = blockIdx.x * N + threadIdx.x; if (i < n) out[i] = v; }
}
template <typename F>
__global__ void apply(float* x, int n, F f) { int i = threadIdx.x; if (i < n) x[i] = f(x[i]); }
__global__ void scale(float* x, const float* bias, float s, size_t n) {
  size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) x[i] = x[i] * s + (bias ? bias[i] : 0);
}
extern "C" int forward(float* x, int n) {
  dim3 blockDim(64), gridDim((n + blockDim.x - 1) / blockDim.x);
  cudaStream_t stream; CHECK(cudaStreamCreate(&stream));
  cudaEvent_t a, b; CHECK(cudaEventCreate(&a)); CHECK(cudaEventCreate(&b)); CHECK(cudaEventRecord(a, stream));
  float* d = nullptr;
  CHECK(cudaMalloc(&d, n * sizeof(float)));
  CHECK(cudaMemcpyAsync(d, x, n * sizeof(float), cudaMemcpyHostToDevice, stream));
  ops::fill<float, 64><<<gridDim, blockDim, 0, stream>>>(d, 3.0f, n / 2);
  scale<<<gridDim, blockDim, 0, stream>>>(d, nullptr, 2, n);
  scale<<<gridDim.x, 64>>>(d, NULL, 1.0, n);
  float add = 0.5f;
  apply<<<1, 1024>>>(d, n, [=] __device__(float v) { return v + add; });
  void* args[] = {&d, &add, &add, &n};
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(b, stream)); CHECK(cudaEventSynchronize(b));
  float ms = -1; CHECK(cudaEventElapsedTime(&ms, a, b));
  CHECK(cudaMemcpy(x, d, n * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d)); CHECK(cudaStreamDestroy(stream)); CHECK(cudaEventDestroy(a)); CHECK(cudaEventDestroy(b));
  return ms >= 0 ? 0 : -1;
}
extern "C" int by_address(float* x, long n) {
  const float* bias = nullptr; float s = 4;
  void* args[] = {&x, &bias, &s, &n};
  return cudaLaunchKernel(scale, dim3(1), dim3(64), args, 0, 0);
}
int too_many_threads(float* x) { scale<<<1, 2048>>>(x, nullptr, 1, 1); return cudaGetLastError(); }
int overrun(float* x, int n) { scale<<<1, 64>>>(x, nullptr, 1, n + 1); scale<<<1, 64>>>(x, nullptr, 100, n); return cudaDeviceSynchronize(); }
int properties() { cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int v; cudaDeviceGetAttribute(&v, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0); return p.warpSize * 1000000 + v; }
"""
EXPORTS = ["forward", "by_address", "too_many_threads", "overrun", "properties"]


@pytest.fixture
def host(compile_source: Any, check: bool) -> Any:
    return compile_source(HOST, check=check, exports=EXPORTS)


def test_launches_in_all_spellings(host: Any) -> None:
    x = np.arange(100, dtype=np.float32)
    host.forget_launches()
    assert host.call("forward", x, 100) == 0
    expected = np.arange(100, dtype=np.float32)
    expected[:50] = 3
    np.testing.assert_array_equal(x, expected * 2 + 0.5)
    records = host.launches()
    assert [r.kernel for r in records] == ["ops::fill<float, 64>", "scale", "scale", "apply"]
    assert records[0].grid == (2, 1, 1) and records[0].block == (64, 1, 1) and all(r.completed for r in records)


def test_launch_by_address(host: Any) -> None:
    x = np.ones(40, np.float32)
    assert host.call("by_address", x, 40) == 0
    np.testing.assert_array_equal(x, 4)


def test_faults_of_launches_made_by_host_code(host: Any) -> None:
    x = np.ones(40, np.float32)
    with pytest.raises(KernelFault) as caught:
        host.call("too_many_threads", x)
    assert caught.value.fault.kind is FaultKind.LAUNCH_LIMIT and caught.value.fault.kernel == "scale"
    if not host.check:
        return
    with pytest.raises(KernelFault) as caught:
        host.call("overrun", x, 40)
    fault = caught.value.fault
    assert (fault.kind, fault.byte_offset, fault.thread) == (FaultKind.OUT_OF_BOUNDS_READ, 160, (40, 0, 0))
    np.testing.assert_array_equal(x, 1)  # the launch after the fault has not run


def test_device_queries_answer_with_the_limits(host: Any) -> None:
    assert host.call("properties") == 32 * 1000000 + (227 << 10)


def test_memory_leaks_nothing(host: Any) -> None:
    before = host.memory()
    host.call("forward", np.zeros(100, np.float32), 100)
    assert host.memory() == before


QUERIES = """
#include <cuda_runtime.h>
__global__ void scale(float* x, float s) { x[threadIdx.x] *= s; }
__constant__ float factor[2];
extern "C" int attribute(int which) { int v = -1; return cudaDeviceGetAttribute(&v, static_cast<cudaDeviceAttr>(which), 0) == cudaSuccess ? v : -1; }
extern "C" int carveout() { return cudaFuncSetAttribute(scale, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared); }
static void twice(void* p) { *static_cast<int*>(p) *= 2; }
static void thrice(cudaStream_t, cudaError_t, void* p) { *static_cast<int*>(p) *= 3; }
extern "C" int several(float* x) {
  cudaStream_t s; int least = 1, greatest = 1, priority = 1, value = 7, version = 0;
  cudaDeviceGetStreamPriorityRange(&least, &greatest);
  if (least != 0 || greatest >= 0) return 1;
  if (cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest) || cudaStreamGetPriority(s, &priority)) return 2;
  cudaStreamCaptureStatus status; cudaStreamIsCapturing(s, &status);
  if (status != cudaStreamCaptureStatusNone) return 3;
  if (cudaLaunchHostFunc(s, twice, &value) || cudaStreamAddCallback(s, thrice, &value, 0) || value != 42) return 4;
  float* rows = nullptr; size_t pitch = 0;
  if (cudaMallocPitch(&rows, &pitch, 12, 3) || pitch < 12 || pitch % 256) return 5;
  if (cudaMemset2DAsync(rows, pitch, 0, 12, 3, s) || cudaMemPrefetchAsync(rows, 12, 0, s) || cudaMemAdvise(rows, 12, cudaMemAdviseSetReadMostly, 0)) return 6;
  if (cudaMemcpyPeerAsync(x, 0, rows, 0, 4, s) || x[0] != 0) return 7;
  cudaPointerAttributes a;
  if (cudaPointerGetAttributes(&a, rows) || a.type != cudaMemoryTypeDevice || a.devicePointer != rows) return 8;
  float f[2] = {3, 5}, back = 0;
  if (cudaMemcpyToSymbol(factor, f, sizeof f) || cudaMemcpyFromSymbolAsync(&back, factor, 4, 4, cudaMemcpyDeviceToHost, s) || back != 5) return 9;
  size_t limit = 0;
  if (cudaDeviceGetLimit(&limit, cudaLimitStackSize) || !limit || cudaRuntimeGetVersion(&version) || version < 12000) return 10;
  int blocks = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, scale, 256, 0, cudaOccupancyDefault) || blocks != 8) return 11;
  cudaEvent_t e; cudaEventCreateWithFlags(&e, cudaEventBlockingSync);
  if (cudaEventRecordWithFlags(e, s, cudaEventRecordDefault) || cudaEventQuery(e) == cudaErrorNotReady) return 12;
  cudaEventDestroy(e); cudaFree(rows);
  return cudaErrorMisalignedAddress == 716 && cudaErrorAssert == 710 && cudaErrorCooperativeLaunchTooLarge == 720 ? 0 : 13;
}
"""


def test_the_runtime_s_queries(compile_source: Any) -> None:
    made = compile_source(QUERIES, exports=["attribute", "carveout", "several"])
    known = {
        1: 1024,
        2: 1024,
        4: 64,
        5: 2147483647,
        6: 65535,
        8: 49152,
        10: 32,
        16: 132,
        39: 2048,
        75: 9,
        76: 0,
        81: 227 << 10,
        82: 65536,
        95: 1,
        106: 32,
    }
    assert {which: made.call("attribute", which) for which in known} == known
    assert made.call("attribute", 9999) == -1
    assert made.call("carveout") == 0
    assert made.call("several", np.ones(1, np.float32)) == 0


def test_hip_has_the_same_queries_by_its_own_names(compile_source: Any) -> None:
    text = QUERIES.replace("cuda_runtime.h", "hip/hip_runtime.h")
    text = text.replace("cudaDevAttr", "hipDeviceAttribute").replace("cudaDeviceAttr", "hipDeviceAttribute_t")
    text = re.sub(r"\bcudaError_t\b", "hipError_t", text)
    text = text.replace("cudaPointerAttributes", "hipPointerAttribute_t").replace(
        "cudaSharedmemCarveoutMaxShared", "100"
    )
    text = re.sub(r"\|\| cudaRuntimeGetVersion\(&version\) \|\| version < 12000", "", text)
    text = re.sub(r"&& cudaErrorAssert == 710", "&& version == 0", text)
    text = re.sub(r"cudaErrorMisalignedAddress == 716", "hipErrorNotReady == 600", text)
    text = text.replace("cudaOccupancyDefault", "0").replace("cudaEventRecordDefault", "0")
    text = re.sub(r"\bcuda([A-Z])", r"hip\1", text)
    made = compile_source(text, dialect="hip", lanes=64, exports=["carveout", "several"], filename="kernel.hip")
    assert made.call("carveout") == 0
    assert made.call("several", np.ones(1, np.float32)) == 0


HIP = """
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
template <typename T> __global__ void twice(T* x, int n) { int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x; if (i < n) x[i] = x[i] * T(2); }
__global__ __launch_bounds__(256) void wave(float* out) {
  float v = 1.0f;
  for (int d = warpSize / 2; d > 0; d >>= 1) v += __shfl_xor(v, d);
  if (threadIdx.x == 0) out[0] = v;
  HIP_DYNAMIC_SHARED(float, s)
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[1 + threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" int run(float* x, int n) {
  float* d;
  if (hipMalloc((void**)&d, n * 4) != hipSuccess) return 1;
  hipMemcpy(d, x, n * 4, hipMemcpyHostToDevice);
  hipLaunchKernelGGL(HIP_KERNEL_NAME(twice<float>), dim3(1), dim3(128), 0, 0, d, n);
  hipLaunchKernelGGL((twice<float>), 1, 128, 0, nullptr, d, n);
  hipLaunchKernelGGL(twice, dim3(1), dim3(128), 0, 0, d, n);
  twice<<<1, 128>>>(d, n);
  hipError_t e = hipGetLastError();
  hipDeviceSynchronize();
  hipMemcpy(x, d, n * 4, hipMemcpyDeviceToHost);
  hipFree(d);
  return e;
}
"""


@pytest.mark.parametrize("lanes", [32, 64])
def test_hip_spellings(compile_source: Any, check: bool, lanes: int) -> None:
    program = compile_source(HIP, check=check, dialect="hip", lanes=lanes, exports=["run"], filename="kernel.hip")
    x = np.arange(100, dtype=np.float32)
    assert program.call("run", x, 100) == 0
    np.testing.assert_array_equal(x, np.arange(100) * 16)
    out = np.zeros(65, np.float32)
    program.launch("wave", 1, 64, (out,), 256)
    assert out[0] == lanes
    np.testing.assert_array_equal(out[1:], np.arange(64) ^ 1)


def test_knock_out_modes(compile_source: Any, check: bool) -> None:
    program = compile_source(
        "__global__ void k(float* y) { y[threadIdx.x] = 1; }\nvoid host(float* y) { k<<<1, 4>>>(y); }",
        check=check,
        exports=["host"],
    )
    y = np.zeros(4, np.float32)
    program.forget_launches()
    try:
        program.set_mode("noop")
        program.launch("k", 1, 4, (y,))
        program.call("host", y)
        assert not y.any()
        program.set_mode("raise")
        with pytest.raises(LaunchRefused):
            program.launch("k", 1, 4, (y,))
        with pytest.raises(LaunchRefused):
            program.call("host", y)
        assert not y.any() and [r.completed for r in program.launches()] == [False] * 4
    finally:
        program.set_mode("normal")
    assert program.runtime.completed_launches() == 0
    program.call("host", y)
    assert y.all() and program.runtime.completed_launches() == 1


def test_foreign_memory_is_checked_against_its_registered_bounds(compile_source: Any) -> None:
    program = compile_source(
        "__global__ void k(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }", check=True
    )
    memory = np.zeros(100, np.float32)
    address = memory.ctypes.data + 40 * 4
    with pytest.raises(KernelFault, match="out_of_bounds_write"):
        program.launch("k", 1, 16, (address, 10))
    program.register("workspace", address, 40)
    try:
        assert any(r.name == "workspace" and r.base == address and r.size == 40 for r in program.memory())
        program.launch("k", 1, 16, (address, 10))
        assert memory[40:50].all() and not memory[50:].any() and not memory[:40].any()
        with pytest.raises(KernelFault) as caught:
            program.launch("k", 1, 16, (address, 11))
        fault = caught.value.fault
        assert (fault.argument, fault.byte_offset, fault.thread) == ("workspace", 40, (10, 0, 0))
    finally:
        program.forget(address)


def test_arrays_in_guarded_memory_are_used_in_place(compile_source: Any, check: bool) -> None:
    program = compile_source(
        "__global__ void k(float* y, float** where) { y[threadIdx.x] += 1; *where = y; }", check=check
    )
    y, where = program.empty(8, np.float32, "y"), np.zeros(1, np.uint64)
    y[:] = 5
    program.launch("k", 1, 1, (y, where))
    assert where[0] == y.ctypes.data and y.tolist() == [6] + [5] * 7
    count = len(program.memory())
    del y
    assert len(program.memory()) == count - 1


def test_exported_function_that_is_missing(host: Any) -> None:
    with pytest.raises(LaunchError, match="no exported host function 'absent'"):
        host.call("absent")


def test_symbols_of_the_program(compile_source: Any) -> None:
    import ctypes

    program = compile_source('extern "C" int plus_one(int v) { return v + 1; }')
    address, size = program.symbol("plus_one")
    assert size > 0 and ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(address)(41) == 42


def test_import_is_light() -> None:
    code = "import sys, kengine.simt; from kengine.simt import build, find_unsupported, KernelFault; print('numpy' in sys.modules, 'torch' in sys.modules)"
    core = str(Path(__file__).resolve().parents[2] / "core")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": core}
    )
    assert done.stdout.split() == ["False", "False"]
