# ruff: noqa: E501  (device sources)
"""Kernels as models and people write them, whole files, with their values: right answers and no false alarm."""

from __future__ import annotations

from typing import Any

import numpy as np

LAYERNORM = r"""
#include <cuda.h>
#include <cuda_runtime.h>
#include <vector>
#define WARP_SIZE 32
#define FULL_MASK 0xffffffff
template <typename scalar_t>
__device__ __forceinline__ scalar_t warpReduceSum(scalar_t val) {
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}
template <typename scalar_t>
__global__ void layernorm_kernel(const scalar_t* __restrict__ in, scalar_t* __restrict__ out, const scalar_t* __restrict__ g,
                                 const scalar_t* __restrict__ b, const int N, const float eps) {
  __shared__ float s_mean, s_rstd;
  const int row = blockIdx.x, tid = threadIdx.x;
  float sum = 0.f, sq = 0.f;
  const float4* in4 = reinterpret_cast<const float4*>(in + row * N);
  for (int i = tid; i < N / 4; i += blockDim.x) {
    float4 v = __ldg(&in4[i]);
    sum += v.x + v.y + v.z + v.w; sq += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  sum = warpReduceSum(sum); sq = warpReduceSum<float>(sq);
  static __shared__ float ws[32], wq[32];
  if ((tid & 31) == 0) { ws[tid >> 5] = sum; wq[tid >> 5] = sq; }
  __syncthreads();
  if (tid < 32) {
    sum = tid < blockDim.x / 32 ? ws[tid] : 0.f; sq = tid < blockDim.x / 32 ? wq[tid] : 0.f;
    sum = warpReduceSum(sum); sq = warpReduceSum(sq);
    if (tid == 0) { s_mean = sum / N; s_rstd = rsqrtf(sq / N - s_mean * s_mean + eps); }
  }
  __syncthreads();
  for (int i = tid; i < N; i += blockDim.x) out[row * N + i] = (in[row * N + i] - s_mean) * s_rstd * g[i] + b[i];
}
void launch(const float* in, float* out, const float* g, const float* b, int rows, int N) {
  const int threads = std::min(1024, ((N / 4 + 31) / 32) * 32);
  layernorm_kernel<float><<<dim3(rows), threads, threads * sizeof(float)>>>(in, out, g, b, N, 1e-5f);
}
"""


def test_layernorm(compile_source: Any, check: bool) -> None:
    program = compile_source(LAYERNORM, check=check, exports=["launch"])
    r = np.random.default_rng(0)
    x, g, b = (r.standard_normal(s).astype(np.float32) for s in ((6, 256), (256,), (256,)))
    out = np.zeros_like(x)
    program.call("launch", x, out, g, b, 6, 256)
    expected = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * g + b
    np.testing.assert_allclose(out, expected, rtol=2e-4, atol=2e-5)


ONLINE_SOFTMAX = r"""
struct __align__(8) MD { float m; float d; };
__device__ __forceinline__ MD merge(MD a, MD b) {
  bool bigger = (a.m > b.m); MD big = bigger ? a : b, small = bigger ? b : a; MD r;
  r.d = big.d + small.d * __expf(small.m - big.m); r.m = big.m; return r;
}
template <int THREADS> __global__ __launch_bounds__(THREADS) void online(const float* __restrict x, float* __restrict y, int V) {
  __shared__ MD md[THREADS];
  MD p = {-FLT_MAX, 0.0f};
  for (int i = threadIdx.x; i < V; i += THREADS) { MD n; n.m = x[blockIdx.x * V + i]; n.d = 1.0f; p = merge(p, n); }
  md[threadIdx.x] = p;
  __syncthreads();
  for (unsigned int s = THREADS / 2; s > 0; s >>= 1) {
    if (threadIdx.x < s) md[threadIdx.x] = merge(md[threadIdx.x], md[threadIdx.x + s]);
    __syncthreads();
  }
  float inv = __fdividef(1.0f, md[0].d);
  for (int i = threadIdx.x; i < V; i += THREADS) y[blockIdx.x * V + i] = __expf(x[blockIdx.x * V + i] - md[0].m) * inv;
}
"""


def test_online_softmax_over_structs_in_shared_memory(compile_source: Any, check: bool) -> None:
    program = compile_source(ONLINE_SOFTMAX, check=check, instances=["online<128>"])
    x = np.random.default_rng(1).standard_normal((4, 333)).astype(np.float32)
    y = np.zeros_like(x)
    program.launch("online<128>", 4, 128, (x, y, 333))
    e = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, e / e.sum(1, keepdims=True), rtol=1e-5)


HGEMM = r"""
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
constexpr int BM = 64, BN = 64, BK = 16, PAD = 8;
__global__ void hgemm(const half* __restrict__ A, const half* __restrict__ B, half* __restrict__ C, int M, int N, int K, float alpha) {
  __shared__ half As[BM][BK + PAD];
  __shared__ __align__(32) half Bs[BK][BN + PAD];
  const int warp = threadIdx.x >> 5, wm = warp / 2, wn = warp % 2;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a[2];
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b[2];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> c[2][2];
  for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) wmma::fill_fragment(c[i][j], 0.f);
  for (int k = 0; k < K; k += BK) {
    for (int i = threadIdx.x; i < BM * BK / 8; i += 128) {
      int r = i / (BK / 8), cc = i % (BK / 8) * 8;
      *(float4*)(&As[r][cc]) = *(const float4*)(&A[(blockIdx.y * BM + r) * K + k + cc]);
    }
    for (int i = threadIdx.x; i < BK * BN / 8; i += 128) {
      int r = i / (BN / 8), cc = i % (BN / 8) * 8;
      *reinterpret_cast<uint4*>(&Bs[r][cc]) = *reinterpret_cast<const uint4*>(&B[(k + r) * N + blockIdx.x * BN + cc]);
    }
    __syncthreads();
    for (int i = 0; i < 2; ++i) {
      wmma::load_matrix_sync(a[i], &As[wm * 32 + i * 16][0], BK + PAD);
      wmma::load_matrix_sync(b[i], &Bs[0][wn * 32 + i * 16], BN + PAD);
    }
    for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) wmma::mma_sync(c[i][j], a[i], b[j], c[i][j]);
    __syncthreads();
  }
  __shared__ float out[4][16 * 16];
  for (int i = 0; i < 2; ++i) for (int j = 0; j < 2; ++j) {
    for (int t = 0; t < c[i][j].num_elements; t++) c[i][j].x[t] = alpha * c[i][j].x[t];
    wmma::store_matrix_sync(out[warp], c[i][j], 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = threadIdx.x % 32; e < 256; e += 32)
      C[(blockIdx.y * BM + wm * 32 + i * 16 + e / 16) * N + blockIdx.x * BN + wn * 32 + j * 16 + e % 16] = __float2half(out[warp][e]);
    __syncwarp();
  }
}
"""


def test_half_gemm_with_wmma_and_padding(compile_source: Any, check: bool) -> None:
    program = compile_source(HGEMM, check=check)
    r = np.random.default_rng(2)
    a, b = r.standard_normal((64, 32)).astype(np.float16), r.standard_normal((32, 128)).astype(np.float16)
    c = np.zeros((64, 128), np.float16)
    program.launch("hgemm", (2, 1), 128, (a, b, c, 64, 128, 32, 0.5))
    np.testing.assert_allclose(
        c, (a.astype(np.float32) @ b.astype(np.float32) * 0.5).astype(np.float16), rtol=2e-3, atol=1e-3
    )


MIXED = r"""
#include <cuda_runtime.h>
#include <cuda_bf16.h>
#include <math_constants.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
enum class Act : int { relu, gelu };
template <Act A> __device__ float act(float x) { if constexpr (A == Act::relu) return fmaxf(x, 0.f); else return 0.5f * x * (1.f + erff(x * M_SQRT1_2)); }
__device__ __constant__ float kTable[2][3] = {{1, 2, 3}, {4, 5, 6}};
struct Params { int n; float* __restrict__ out; const float* in; };
template <typename Op> __global__ void elementwise(Params p, Op op) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < p.n; i += gridDim.x * blockDim.x) p.out[i] = op(p.in[i]); }
struct Gelu { __host__ __device__ float operator()(float x) const { return act<Act::gelu>(x); } };
#define UNARY(name, expression) __global__ void name##_kernel(const float* in, float* out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; float x = in[i]; out[i] = expression; } \
  void name(const float* in, float* out, int n) { name##_kernel<<<(n + 127) / 128, 128>>>(in, out, n); }
UNARY(swish, x / (1.0f + __expf(-x)))
UNARY(cube, x * x * x)
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
__global__ void twice(double* x) { x[threadIdx.x] *= 2; }
__global__ void conv(const float* __restrict__ x, const float* w, float* y, int H, int W) {
  extern __shared__ __align__(sizeof(float4)) unsigned char smem_raw[];
  float* tile = reinterpret_cast<float*>(smem_raw);
  auto block = cg::this_thread_block();
  int tx = threadIdx.x, ty = threadIdx.y, ox = blockIdx.x * 16 + tx, oy = blockIdx.y * 16 + ty;
  for (int i = ty; i < 18; i += blockDim.y) for (int j = tx; j < 18; j += blockDim.x) {
    int iy = (int)(blockIdx.y * 16) + i - 1, ix = (int)(blockIdx.x * 16) + j - 1;
    tile[i * 18 + j] = (iy >= 0 && iy < H && ix >= 0 && ix < W) ? x[iy * W + ix] : 0.f;
  }
  block.sync();
  float acc = 0;
#pragma unroll 3
  for (int i = 0; i < 3; ++i) for (int j = 0; j < 3; ++j) acc = __fmaf_rn(tile[(ty + i) * 18 + tx + j], w[i * 3 + j], acc);
  if (ox < W && oy < H) y[oy * W + ox] = acc + kTable[1][2];
}
__global__ void bf(const __nv_bfloat16* x, __nv_bfloat162* y, int n) {
  int i = threadIdx.x;
  if (i < n) { __nv_bfloat162 v = __halves2bfloat162(x[2 * i], x[2 * i + 1]); float2 f = __bfloat1622float2(v); y[i] = __floats2bfloat162_rn(f.x * 2, f.y * 2); }
}
void gelu(const float* in, float* out, int n) { Params p{n, out, in}; elementwise<<<4, 128>>>(p, Gelu{}); }
void leaky(const float* in, float* out, int n) { Params p{n, out, in}; elementwise<<<dim3{2}, 128, 0, 0>>>(p, [] __device__ (float x) { return x > 0.f ? x : 0.01f * x; }); }
void both(float* a, double* b) { twice<<<1, 4>>>(a); twice<<<1, 4>>>(b); }
void convolve(const float* x, const float* w, float* y, int H, int W) {
  size_t smem = 18 * 18 * sizeof(float);
  cudaFuncSetAttribute(conv, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)smem);
  conv<<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16), smem>>>(x, w, y, H, W);
}
"""


def test_functors_macros_overloads_and_convolution(compile_source: Any, check: bool) -> None:
    exports = ["gelu", "leaky", "both", "convolve", "swish", "cube"]
    program = compile_source(MIXED, check=check, exports=exports)
    assert {"swish_kernel", "cube_kernel", "conv", "bf"} <= set(program.kernels)
    r = np.random.default_rng(3)
    x, out = r.standard_normal(700).astype(np.float32), np.zeros(700, np.float32)
    from math import erf

    for name, expected in (
        ("gelu", 0.5 * x * (1 + np.vectorize(erf)(x / 2**0.5))),
        ("leaky", np.where(x > 0, x, 0.01 * x)),
        ("swish", x / (1 + np.exp(-x))),
        ("cube", x**3),
    ):
        program.call(name, x, out, 700)
        np.testing.assert_allclose(out, expected, rtol=2e-5, atol=1e-6, err_msg=name)
    a, b = np.ones(4, np.float32), np.ones(4)
    program.call("both", a, b)
    assert a.tolist() == b.tolist() == [2] * 4
    image, w, y = (
        r.standard_normal((20, 37)).astype(np.float32),
        r.standard_normal((3, 3)).astype(np.float32),
        np.zeros((20, 37), np.float32),
    )
    program.call("convolve", image, w, y, 20, 37)
    padded = np.pad(image, 1)
    expected = sum(padded[i : i + 20, j : j + 37] * w[i, j] for i in range(3) for j in range(3)) + 6
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)


SHAPES = r"""
#define TILE_DIM 32
#define BLOCK_ROWS 8
template <typename T> __global__ void transpose(T* __restrict__ o, const T* __restrict__ in, int w, int h) {
  __shared__ T tile[TILE_DIM][TILE_DIM + 1];
  int x = blockIdx.x * TILE_DIM + threadIdx.x, y = blockIdx.y * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) if (x < w && y + j < h) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
  __syncthreads();
  x = blockIdx.y * TILE_DIM + threadIdx.x; y = blockIdx.x * TILE_DIM + threadIdx.y;
  for (int j = 0; j < TILE_DIM; j += BLOCK_ROWS) if (x < h && y + j < w) o[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
template __global__ void transpose<float>(float*, const float*, int, int);
template <> __global__ void transpose<double>(double* o, const double* in, int w, int h) { o[0] = in[0] + w + h; return; }
typedef void (*kern_t)(float*, const float*, int, int);
void run(float* a, const float* b, int w, int h) { kern_t k = transpose<float>; k<<<dim3((w + 31) / 32, (h + 31) / 32), dim3(TILE_DIM, BLOCK_ROWS)>>>(a, b, w, h); }
void special(double* a, const double* b) { transpose<double> <<< dim3(1), 1 >>> (a, b, 3, 4); }
__global__ void pipelined(const float* g, float* o) {
  __shared__ float buf[2][128]; int p = 0; buf[p][threadIdx.x] = g[threadIdx.x]; __syncthreads();
  for (int i = 1; i <= 4; i++) {
    if (i < 4) buf[p ^ 1][threadIdx.x] = g[i * 128 + threadIdx.x];
    o[(i - 1) * 128 + threadIdx.x] = buf[p][127 - threadIdx.x]; p ^= 1; __syncthreads();
  }
}
union U { float f; unsigned u; };
__global__ void unions(float* x, unsigned* o) {
  __shared__ union { float f[32]; int i[32]; } u; volatile __shared__ int flag;
  u.f[threadIdx.x] = x[threadIdx.x]; if (threadIdx.x == 0) flag = 1;
  __syncthreads();
  U v; v.f = u.f[31 - threadIdx.x]; o[threadIdx.x] = v.u + flag;
}
"""


def test_transposes_double_buffers_and_unions(compile_source: Any, check: bool) -> None:
    program = compile_source(SHAPES, check=check, exports=["run", "special"])
    r = np.random.default_rng(4)
    x = r.standard_normal((45, 70)).astype(np.float32)
    out = np.zeros((70, 45), np.float32)
    program.call("run", out, x, 70, 45)
    np.testing.assert_array_equal(out, x.T)
    d = np.zeros(1)
    program.call("special", d, np.full(1, 2.5))
    assert d[0] == 9.5
    g, o = r.standard_normal((4, 128)).astype(np.float32), np.zeros((4, 128), np.float32)
    program.launch("pipelined", 1, 128, (g, o))
    np.testing.assert_array_equal(o, g[:, ::-1])
    u = np.zeros(32, np.uint32)
    program.launch("unions", 1, 32, (g, u))
    np.testing.assert_array_equal(u, g[0, :32][::-1].view(np.uint32) + 1)


RMSNORM_HIP = r"""
#include "hip/hip_runtime.h"
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>
constexpr int kWave = 64;
#define HIP_CHECK(x) { hipError_t e = x; if (e != hipSuccess) { printf("%s %d\n", hipGetErrorString(e), __LINE__); std::abort(); } }
template <typename T, int kBlock> __global__ __launch_bounds__(kBlock) void rms(const T* __restrict__ x, const T* __restrict__ w, T* __restrict__ o, int D, float eps) {
  __shared__ float part[kBlock / kWave];
  float s = 0.f; const T* xr = x + static_cast<size_t>(blockIdx.x) * D;
  for (int i = threadIdx.x; i < D; i += kBlock) { float v = static_cast<float>(xr[i]); s += v * v; }
#pragma unroll
  for (int m = kWave / 2; m >= 1; m /= 2) s += __shfl_xor(s, m, kWave);
  if ((threadIdx.x & (kWave - 1)) == 0) part[threadIdx.x / kWave] = s;
  __syncthreads();
  s = 0; for (int i = 0; i < kBlock / kWave; ++i) s += part[i];
  float r = rsqrtf(s / D + eps);
  for (int i = threadIdx.x; i < D; i += kBlock) o[(size_t)blockIdx.x * D + i] = static_cast<T>(static_cast<float>(xr[i]) * r * static_cast<float>(w[i]));
}
__global__ void vec(float4* a, const float4* b) { a[threadIdx.x] += b[threadIdx.x] * 2.0f; }
extern "C" void launch(void* x, void* w, void* o, int rows, int D, hipStream_t stream) {
  hipLaunchKernelGGL((rms<__half, 256>), dim3(rows), dim3(256), 0, stream, (const __half*)x, (const __half*)w, (__half*)o, D, 1e-6f);
  HIP_CHECK(hipGetLastError());
}
int main() { int n; HIP_CHECK(hipGetDeviceCount(&n)); hipDeviceProp_t p; HIP_CHECK(hipGetDeviceProperties(&p, 0)); return 0; }
"""


def test_hip_rmsnorm(compile_source: Any, check: bool) -> None:
    program = compile_source(RMSNORM_HIP, check=check, dialect="hip", lanes=64, exports=["launch"], filename="rms.hip")
    r = np.random.default_rng(5)
    x, w = r.standard_normal((3, 500)).astype(np.float16), r.standard_normal(500).astype(np.float16)
    o = np.zeros_like(x)
    program.call("launch", x, w, o, 3, 500, None)
    f = x.astype(np.float32)
    np.testing.assert_allclose(
        o, f / np.sqrt((f * f).mean(1, keepdims=True) + 1e-6) * w.astype(np.float32), rtol=2e-3, atol=1e-3
    )
    a, b = np.ones(16, np.float32), np.arange(16, dtype=np.float32)
    program.launch("vec", 1, 4, (a, b))
    np.testing.assert_array_equal(a, 1 + 2 * b)
