# ruff: noqa: E501  (device sources)
"""Data races: those that are, and what looks like one and is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine.simt import FaultKind


def zeros(n: int, dtype: Any = np.float32) -> Any:
    return np.zeros(n, dtype)


RACES = {
    "missing barrier after a write": (
        """
        __global__ void k(float* y) {
          __shared__ float s[64];
          s[threadIdx.x] = threadIdx.x;
          y[threadIdx.x] = s[63 - threadIdx.x];
        }
        """, 1, 64, FaultKind.RACE_SHARED, "s", 4),
    "missing barrier before overwriting": (
        """
        __global__ void k(float* y) {
          __shared__ float s[64];
          s[threadIdx.x] = threadIdx.x;
          __syncthreads();
          float v = s[63 - threadIdx.x];
          s[threadIdx.x] = v + 1;
          __syncthreads();
          y[threadIdx.x] = s[threadIdx.x];
        }
        """, 1, 64, FaultKind.RACE_SHARED, "s", None),
    "template": (
        """
        template <int N> __device__ float other(float v) {
          __shared__ float s[N];
          s[threadIdx.x] = v;
          return s[(threadIdx.x + 1) % N];
        }
        __global__ void k(float* y) { y[threadIdx.x] = other<64>(threadIdx.x); }
        """, 1, 64, FaultKind.RACE_SHARED, "s", None),
    "sum without atomics": (
        """
        __global__ void k(float* y) {
          y[0] += 1.0f;
        }
        """, 4, 1, FaultKind.RACE_GLOBAL, "y", 3),
    "blocks that read their neighbour's output": (
        """
        __global__ void k(float* y) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          float right = i < 127 ? y[i + 1] : 0;
          y[i] = right + 1;
        }
        """, 4, 32, FaultKind.RACE_GLOBAL, "y", None),
    "atomic and plain write": (
        """
        __global__ void k(int* y) {
          if (threadIdx.x == 5) y[0] = 0;
          atomicAdd(&y[0], 1);
        }
        """, 1, 32, FaultKind.RACE_GLOBAL, "y", None),
    "shared sum read without a barrier": (
        """
        __global__ void k(int* y) {
          __shared__ int sum;
          if (threadIdx.x == 0) sum = 0;
          __syncthreads();
          atomicAdd(&sum, 1);
          y[threadIdx.x] = sum;
        }
        """, 1, 64, FaultKind.RACE_SHARED, "sum", 7),
    "device variable": (
        """
        __device__ int total;
        __global__ void k(int* y) { total = total + 1 + threadIdx.x; }
        """, 2, 32, FaultKind.RACE_GLOBAL, None, 3),
    "dynamic shared memory": (
        """
        __global__ void k(float* y) {
          extern __shared__ float s[];
          s[threadIdx.x] = threadIdx.x;
          y[threadIdx.x] = s[threadIdx.x ^ 33];
        }
        """, 1, 64, FaultKind.RACE_SHARED, "dynamic shared memory", None),
    "warps of one block": (
        """
        __global__ void k(float* y) {
          __shared__ float s[2];
          if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = 1;
          __syncwarp();
          y[threadIdx.x] = s[0] + s[1];
        }
        """, 1, 64, FaultKind.RACE_SHARED, "s", None),
}  # fmt: skip


@pytest.mark.parametrize("name", RACES)
def test_race(fault_of: Any, name: str) -> None:
    source, grid, block, kind, argument, line = RACES[name]
    y = zeros(128, np.int32 if "int* y" in source else np.float32)
    fault = fault_of(source, grid, block, (y,), shared_bytes=256 if "extern" in source else 0, check=True)
    assert fault.kind is kind and fault.line is not None
    if argument:
        assert fault.argument == argument
    if line:
        assert fault.line == line


CLEAN = {
    "neighbouring 16-bit values": "__global__ void k(short* y) { y[threadIdx.x] = threadIdx.x; }",
    "neighbouring bytes": "__global__ void k(char* y) { y[threadIdx.x] = y[threadIdx.x] + 1; }",
    "neighbouring 16-bit shared values": """
        __global__ void k(short* y) {
          __shared__ __half s[64];
          s[threadIdx.x] = __int2half_rn(threadIdx.x);
          y[threadIdx.x] = __half2int_rn(s[threadIdx.x]);
        }""",
    "bytes of one word, after whole words": """
        __global__ void k(int* y) {
          __shared__ int words[16];
          if (threadIdx.x < 16) words[threadIdx.x] = 0;
          __syncthreads();
          reinterpret_cast<unsigned char*>(words)[threadIdx.x] = threadIdx.x;
          __syncthreads();
          if (threadIdx.x < 16) y[threadIdx.x] = words[threadIdx.x];
        }""",
    "all threads store the same": """
        __global__ void k(int* y) {
          __shared__ int flag;
          flag = 7;
          y[0] = 3;
          __syncthreads();
          y[1 + threadIdx.x] = flag;
        }""",
    "lanes ordered by __syncwarp": """
        __global__ void k(int* y) {
          __shared__ int s[64];
          s[threadIdx.x] = threadIdx.x;
          __syncwarp();
          int v = s[threadIdx.x ^ 1];
          __syncwarp();
          s[threadIdx.x] = v;
          __syncwarp();
          y[threadIdx.x] = s[threadIdx.x ^ 1];
        }""",
    "compare-and-swap loop": """
        __device__ void atomic_max(float* p, float v) {
          int* q = (int*)p; int old = *q, assumed;
          do { assumed = old; old = atomicCAS(q, assumed, __float_as_int(fmaxf(v, __int_as_float(assumed)))); } while (assumed != old);
        }
        __global__ void k(float* y) {
          __shared__ float best;
          if (threadIdx.x == 0) best = -1;
          __syncthreads();
          atomic_max(&best, (float)threadIdx.x);
          atomic_max(y, (float)threadIdx.x);
          __syncthreads();
          if (threadIdx.x == 0) y[1] = best;
        }""",
    "compare-and-swap loop that gives up early": """
        __device__ void atomic_max(float* p, float v) {
          int* q = (int*)p; int old = *q, assumed;
          while (__int_as_float(old) < v) { assumed = old; old = atomicCAS(q, assumed, __float_as_int(v)); if (old == assumed) break; }
        }
        __global__ void k(float* y) {
          __shared__ float best;
          if (threadIdx.x == 0) best = -1;
          __syncthreads();
          atomic_max(&best, (float)((threadIdx.x * 7) % 64));
          __syncthreads();
          y[threadIdx.x] = best;
        }""",
    "shared memory set by memset and copied by memcpy": """
        __global__ void k(float* y) {
          __shared__ float s[64], c[64];
          if (threadIdx.x == 0) memset(s, 0, sizeof(s));
          __syncthreads();
          atomicAdd(&s[threadIdx.x % 4], 1.0f);
          __syncthreads();
          if (threadIdx.x == 1) memcpy(c, s, sizeof(c));
          __syncthreads();
          y[threadIdx.x] = c[threadIdx.x];
        }""",
    "blocks with their own shared memory": """
        __global__ void k(int* y) {
          __shared__ int s[64];
          s[63 - threadIdx.x] = blockIdx.x;
          __syncthreads();
          y[threadIdx.x + 64 * blockIdx.x] = s[threadIdx.x];
        }""",
    "read by all, written by one after a barrier": """
        __global__ void k(int* y) {
          int v = y[0];
          __syncthreads();
          if (threadIdx.x == 40) y[0] = v + 1;
        }""",
}


@pytest.mark.parametrize("name", CLEAN)
def test_no_race(compile_source: Any, name: str) -> None:
    source = CLEAN[name]
    dtype = {"short": np.int16, "char": np.int8, "float": np.float32, "int": np.int32}[
        source.split("void k(")[1].split("*")[0]
    ]
    y = zeros(200, dtype)
    compile_source(source, check=True).launch("k", 2 if "blocks" in name else 1, 64, (y,))
    if name == "neighbouring 16-bit shared values":
        np.testing.assert_array_equal(y[:64], np.arange(64))
    if name == "bytes of one word, after whole words":
        np.testing.assert_array_equal(y[:16].view(np.uint8), np.arange(64))
    if name == "compare-and-swap loop":
        assert y[:2].tolist() == [63, 63]
    if name == "lanes ordered by __syncwarp":
        np.testing.assert_array_equal(y[:64], np.arange(64))
    if name == "all threads store the same":
        assert y[:3].tolist() == [3, 7, 7]


def test_same_value_in_one_place_but_not_in_another(fault_of: Any) -> None:
    fault = fault_of(
        "__global__ void k(int* y) {\n  y[0] = 1;\n  y[1] = threadIdx.x;\n}", 1, 4, (zeros(4, np.int32),), check=True
    )
    assert (fault.kind, fault.byte_offset, fault.line, fault.thread) == (FaultKind.RACE_GLOBAL, 4, 3, (1, 0, 0))
