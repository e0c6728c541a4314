# ruff: noqa: E501  (device sources)
"""Kernels that are right give the right values, with and without checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine.simt import LaunchError

rng = np.random.default_rng


def floats(*shape: int, seed: int = 0) -> Any:
    return rng(seed).standard_normal(shape).astype(np.float32)


def test_vector_add(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cuda_runtime.h>
        extern "C" __global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* c, int n) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) c[i] = a[i] + b[i];
        }
        """,
        check=check,
    )
    a, b, c = floats(1000), floats(1000, seed=1), np.zeros(1000, np.float32)
    program.launch("add", 4, 256, (a, b, c, 1000))
    np.testing.assert_array_equal(c, a + b)
    kernel = program.kernels["add"]
    assert [(p.name, p.code, p.is_pointer, p.is_const) for p in kernel.parameters] == [
        ("a", "f4", True, True), ("b", "f4", True, True), ("c", "f4", True, False), ("n", "i4", False, False),
    ]  # fmt: skip
    assert kernel.static_shared == 0 and kernel.line == 3


def test_three_dimensional_indices(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void where(int* out) {
          int block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
          int thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
          out[block * blockDim.x * blockDim.y * blockDim.z + thread] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z
            + 1000 * (blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z);
        }
        """,
        check=check,
    )
    out = np.zeros((2, 3, 4, 2, 3, 5), np.int32)
    program.launch("where", (4, 3, 2), (5, 3, 2), (out,))
    bz, by, bx, z, y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, x + 10 * y + 100 * z + 1000 * (bx + 10 * by + 100 * bz))


TILED = """
template <typename T, int TILE>
__global__ void matmul(const T* A, const T* B, T* C, int n) {
  __shared__ T As[TILE][TILE], Bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  T sum = 0;
  for (int t = 0; t < n; t += TILE) {
    As[threadIdx.y][threadIdx.x] = A[row * n + t + threadIdx.x];
    Bs[threadIdx.y][threadIdx.x] = B[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  C[row * n + col] = sum;
}
"""


@pytest.mark.parametrize(
    "instance,dtype,tile", [("matmul<float, 16>", np.float32, 16), ("matmul<double, 8>", np.float64, 8)]
)
def test_tiled_matmul_in_a_template(compile_source: Any, check: bool, instance: str, dtype: Any, tile: int) -> None:
    program = compile_source(TILED, check=check, instances=["matmul<float, 16>", "matmul<double, 8>"])
    a, b, c = floats(32, 32).astype(dtype), floats(32, 32, seed=1).astype(dtype), np.zeros((32, 32), dtype)
    program.launch(instance, (32 // tile, 32 // tile), (tile, tile), (a, b, c, 32))
    np.testing.assert_allclose(c, a @ b, rtol=1e-4, atol=1e-5)
    assert program.kernels[instance].static_shared == 2 * tile * tile * np.dtype(dtype).itemsize


def test_softmax_by_shuffles(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __inline__ __device__ float warp_max(float v) {
          for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
          return v;
        }
        __inline__ __device__ float warp_sum(float v) {
          for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
          return v;
        }
        __global__ void softmax(const float* x, float* y, int n) {
          extern __shared__ float buffer[];
          const float* row = x + blockIdx.x * n;
          int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
          float best = -INFINITY;
          for (int i = threadIdx.x; i < n; i += blockDim.x) best = max(best, row[i]);
          best = warp_max(best);
          if (lane == 0) buffer[warp] = best;
          __syncthreads();
          best = buffer[0];
          for (int w = 1; w < warps; ++w) best = fmaxf(best, buffer[w]);
          __syncthreads();
          float sum = 0.f;
          for (int i = threadIdx.x; i < n; i += blockDim.x) sum += expf(row[i] - best);
          sum = warp_sum(sum);
          if (lane == 0) buffer[warp] = sum;
          __syncthreads();
          if (warp == 0) {
            sum = lane < warps ? buffer[lane] : 0.f;
            sum = warp_sum(sum);
            if (lane == 0) buffer[0] = sum;
          }
          __syncthreads();
          for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = __expf(row[i] - best) / buffer[0];
        }
        """,
        check=check,
    )
    x, y = floats(5, 300), np.zeros((5, 300), np.float32)
    program.launch("softmax", 5, 128, (x, y, 300), 4 * 4)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def test_histogram_with_shared_atomics(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
          static __shared__ unsigned int local[256];
          local[threadIdx.x] = 0;
          __syncthreads();
          for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[data[i]], 1u);
          __syncthreads();
          atomicAdd(bins + threadIdx.x, local[threadIdx.x]);
        }
        """,
        check=check,
    )
    data = rng(3).integers(0, 256, 5000).astype(np.uint8)
    bins = np.zeros(256, np.uint32)
    program.launch("histogram", 4, 256, (data, bins, data.size))
    np.testing.assert_array_equal(bins, np.bincount(data, minlength=256))


def test_block_scan(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void scan(const int* in, int* out) {
          __shared__ int s[2][256];
          int t = threadIdx.x, from = 0;
          s[0][t] = in[t];
          __syncthreads();
          for (int d = 1; d < blockDim.x; d *= 2) {
            s[1 - from][t] = t >= d ? s[from][t] + s[from][t - d] : s[from][t];
            from = 1 - from;
            __syncthreads();
          }
          out[t] = s[from][t];
        }
        """,
        check=check,
    )
    values = rng(4).integers(-50, 50, 256).astype(np.int32)
    out = np.zeros_like(values)
    program.launch("scan", 1, 256, (values, out))
    np.testing.assert_array_equal(out, np.cumsum(values))


def test_last_block_reduction_is_no_race(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __device__ unsigned int finished = 0;
        __global__ void total(const float* x, float* partial, float* out, int n) {
          __shared__ float s[64];
          __shared__ bool last;
          int t = threadIdx.x, i = blockIdx.x * 64 + t;
          s[t] = i < n ? x[i] : 0.0f;
          __syncthreads();
          for (int d = 32; d; d /= 2) {
            if (t < d) s[t] += s[t + d];
            __syncthreads();
          }
          if (t == 0) {
            partial[blockIdx.x] = s[0];
            __threadfence();
            last = atomicInc(&finished, gridDim.x) == gridDim.x - 1;
          }
          __syncthreads();
          if (last && t == 0) {
            float sum = 0;
            for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
            *out = sum;
          }
        }
        """,
        check=check,
    )
    x, partial, out = floats(500), np.zeros(8, np.float32), np.zeros(1, np.float32)
    program.launch("total", 8, 64, (x, partial, out, 500))
    np.testing.assert_allclose(out[0], x.sum(), rtol=1e-5)


def test_early_return_before_a_barrier_is_accepted(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(float* x, int n) {
          __shared__ float s[64];
          if (threadIdx.x >= n) return;
          s[threadIdx.x] = x[threadIdx.x];
          __syncthreads();
          x[threadIdx.x] = s[n - 1 - threadIdx.x];
        }
        """,
        check=check,
    )
    x = np.arange(50, dtype=np.float32)
    program.launch("k", 1, 64, (x, 50))
    np.testing.assert_array_equal(x, np.arange(50)[::-1])


def test_volatile_reduction_of_a_warp_runs_in_lockstep(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __device__ void reduce_warp(volatile float* s, int t) {
          s[t] += s[t + 32]; s[t] += s[t + 16]; s[t] += s[t + 8]; s[t] += s[t + 4]; s[t] += s[t + 2]; s[t] += s[t + 1];
        }
        __global__ void total(const float* x, float* out) {
          __shared__ float s[128];
          int t = threadIdx.x;
          s[t] = x[t];
          if (t < 64) s[t + 64] = 0;
          __syncthreads();
          if (t < 32) reduce_warp(s, t);
          if (t == 0) *out = s[0];
        }
        """,
        check=check,
    )
    x, out = np.arange(64, dtype=np.float32), np.zeros(1, np.float32)
    program.launch("total", 1, 64, (x, out))
    assert out[0] == x.sum()


def test_spin_lock_and_flags_make_progress(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __device__ int lock = 0;
        __global__ void k(int* count, int* seen) {
          __shared__ int ready;
          if (threadIdx.x == 0) ready = 0;
          __syncthreads();
          if (threadIdx.x == 0) {
            while (atomicAdd(&ready, 0) == 0) {}
            *seen = 1;
          } else if (threadIdx.x == 63) {
            atomicExch(&ready, 1);
          }
          bool done = false;
          while (!done) {
            if (atomicCAS(&lock, 0, 1) == 0) {
              atomicAdd(count, 1);
              __threadfence();
              atomicExch(&lock, 0);
              done = true;
            }
          }
        }
        """,
        check=check,
    )
    count, seen = np.zeros(1, np.int32), np.zeros(1, np.int32)
    program.launch("k", 1, 64, (count, seen))
    assert count[0] == 64 and seen[0] == 1


def test_constant_and_device_variables(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __constant__ float weights[4];
        __device__ int counter = 5;
        static __constant__ float scale = 2.0f;
        __global__ void k(float* out) {
          out[threadIdx.x] = weights[threadIdx.x] * scale;
          atomicAdd(&counter, 1);
        }
        void set_weights(const float* host) { cudaMemcpyToSymbol(weights, host, sizeof(weights)); }
        int get_counter() { int v; cudaMemcpyFromSymbol(&v, counter, sizeof v); return v; }
        """,
        check=check,
        exports=["set_weights", "get_counter"],
    )
    out = np.zeros(4, np.float32)
    program.call("set_weights", np.array([1, 2, 3, 4], np.float32))
    program.launch("k", 1, 4, (out,))
    np.testing.assert_array_equal(out, [2, 4, 6, 8])
    assert program.call("get_counter") == 9
    program.variable("weights", np.float32)[:] = 7
    program.launch("k", 1, 4, (out,))
    np.testing.assert_array_equal(out, [14] * 4)
    assert program.variable("counter", np.int32)[0] == 13
    with pytest.raises(KeyError, match=r"no 'absent'"):
        program.variable("absent")


def test_strided_and_aliased_arrays_keep_their_layout(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(const float* x, float* y, int stride, int n) {
          int i = threadIdx.x;
          if (i < n) y[i * stride] = x[i * stride] + 1;
        }
        """,
        check=check,
    )
    base = np.arange(40, dtype=np.float32).reshape(10, 4)
    column = base[:, 1]
    program.launch("k", 1, 32, (column, column, 4, 10))
    expected = np.arange(40, dtype=np.float32).reshape(10, 4)
    expected[:, 1] += 1
    np.testing.assert_array_equal(base, expected)


def test_scalars_are_converted_by_the_signature(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        struct Pair { int a; float b; };
        __global__ void k(double* out, float f, double d, unsigned char u, long long l, bool b, Pair p, size_t z) {
          out[0] = f; out[1] = d; out[2] = u; out[3] = l; out[4] = b; out[5] = p.a; out[6] = p.b; out[7] = z;
        }
        """,
        check=check,
    )
    out = np.zeros(8)
    pair = np.array([(3, 1.5)], dtype=[("a", "i4"), ("b", "f4")])
    program.launch("k", 1, 1, (out, 2, np.float32(0.5), 200, -(1 << 40), True, pair, 1 << 50))
    np.testing.assert_array_equal(out, [2, 0.5, 200, -(2.0**40), 1, 3, 1.5, 2.0**50])
    with pytest.raises(LaunchError, match=r"takes 8 arguments.*2 given"):
        program.launch("k", 1, 1, (out, 1))
    with pytest.raises(LaunchError, match=r"'u1 u'.*300 does not fit 8 bits"):
        program.launch("k", 1, 1, (out, 2, 0.5, 300, 1, True, pair, 1))
    with pytest.raises(LaunchError, match=r"'i8 l'.*expected an integer"):
        program.launch("k", 1, 1, (out, 2, 0.5, 3, 1.5, True, pair, 1))
    with pytest.raises(LaunchError, match=r"no kernel 'missing'.*found: k"):
        program.launch("missing", 1, 1, ())


def test_printf_and_clock(compile_source: Any, check: bool, capsys: pytest.CaptureFixture[str]) -> None:
    program = compile_source(
        """
        #include <stdio.h>
        __global__ void k(long long* t) {
          long long start = clock64();
          printf("thread %d of %s\\n", threadIdx.x, "block");
          t[threadIdx.x] = clock64() - start;
        }
        """,
        check=check,
    )
    t = np.zeros(2, np.int64)
    program.launch("k", 1, 2, (t,))
    assert capsys.readouterr().out == "thread 0 of block\nthread 1 of block\n"
    assert (t >= 0).all()


def test_barrier_reductions(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(int* out) {
          int t = threadIdx.x;
          int n = __syncthreads_count(t % 3 == 0), all = __syncthreads_and(t < 64), any = __syncthreads_or(t == 63);
          int none = __syncthreads_or(t == 64), notall = __syncthreads_and(t < 63);
          if (t == 17) { out[0] = n; out[1] = all; out[2] = any; out[3] = none; out[4] = notall; }
        }
        """,
        check=check,
    )
    out = np.full(5, -1, np.int32)
    program.launch("k", 1, 64, (out,))
    assert out.tolist() == [22, 1, 1, 0, 0]
