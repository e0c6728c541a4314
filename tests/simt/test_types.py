# ruff: noqa: E501  (device sources)
"""Types, conversions, intrinsics, matrices and random numbers, against numpy, ml_dtypes and published values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

ml_dtypes = pytest.importorskip("ml_dtypes")


def test_half_and_bfloat16_round_like_numpy(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        __global__ void k(const float* x, __half* h, __nv_bfloat16* b, const double* d, __half* hd, __nv_bfloat16* bd, int n) {
          for (int i = threadIdx.x; i < n; i += blockDim.x) {
            h[i] = __float2half(x[i]); b[i] = __float2bfloat16(x[i]); hd[i] = __double2half(d[i]); bd[i] = __double2bfloat16(d[i]);
          }
        }
        """,
        check=check,
    )
    bits = np.random.default_rng(0).integers(0, 2**32, 20000, dtype=np.uint64).astype(np.uint32)
    x = np.concatenate(
        [bits.view(np.float32), [0, -0.0, np.inf, -np.inf, 65519.9, 65520, 6e-8, 3e-8, 1.00048828125]]
    ).astype(np.float32)
    x = x[~np.isnan(x)]
    d = np.concatenate([x[1:].astype(np.float64) * (1 + 2.0**-30), [1.0]])
    n = x.size
    h, hd = np.zeros(n, np.float16), np.zeros(n, np.float16)
    b, bd = np.zeros(n, ml_dtypes.bfloat16), np.zeros(n, ml_dtypes.bfloat16)
    program.launch("k", 1, 64, (x, h, b, d, hd, bd, n))
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(h.view(np.uint16), x.astype(np.float16).view(np.uint16))
        np.testing.assert_array_equal(hd.view(np.uint16), d.astype(np.float16).view(np.uint16))
    np.testing.assert_array_equal(b.view(np.uint16), x.astype(ml_dtypes.bfloat16).view(np.uint16))
    small = np.abs(d) < 1e38
    back, exact = bd.astype(np.float64)[small], d[small]
    for neighbour in (1, -1):
        other = (bd.view(np.int16)[small] + neighbour).astype(np.int16).view(ml_dtypes.bfloat16).astype(np.float64)
        keep = np.isfinite(other) & np.isfinite(back)
        assert (np.abs(back - exact)[keep] <= np.abs(other - exact)[keep]).all()


def test_half_arithmetic(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cuda_fp16.h>
        template <typename T> __device__ void all(const T* a, const T* b, T* out, int n, int i) {
          out[i] = a[i] + b[i]; out[n + i] = a[i] * b[i]; out[2 * n + i] = __hsub(a[i], b[i]); out[3 * n + i] = __hdiv(a[i], b[i]);
          out[4 * n + i] = __hfma(a[i], b[i], a[i]); out[5 * n + i] = __hmax(a[i], b[i]); out[6 * n + i] = -a[i];
          T sum = 0; sum += a[i]; sum *= b[i]; out[7 * n + i] = sum; out[8 * n + i] = __hgt(a[i], b[i]) ? a[i] : T(1.0f);
        }
        __global__ void half_kernel(const __half* a, const __half* b, __half* out, int n) { all(a, b, out, n, threadIdx.x); }
        __global__ void bf16_kernel(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* out, int n) { all(a, b, out, n, threadIdx.x); }
        __global__ void pairs(const __half2* a, const __half2* b, __half2* out, float2* f) {
          int i = threadIdx.x;
          out[i] = __hfma2(a[i], b[i], __float2half2_rn(1.0f)); f[i] = __half22float2(__hadd2(a[i], b[i]));
          out[i].x = __low2half(out[i]) + __high2half(a[i]);
        }
        """,
        check=check,
    )
    r = np.random.default_rng(3)
    for name, dtype in (("half_kernel", np.float16), ("bf16_kernel", ml_dtypes.bfloat16)):
        a, b = r.standard_normal(64).astype(dtype), r.standard_normal(64).astype(dtype)
        out = np.zeros((9, 64), dtype)
        program.launch(name, 1, 64, (a, b, out, 64))
        wa, wb = a.astype(np.float64), b.astype(np.float64)
        expected = [
            wa + wb,
            wa * wb,
            wa - wb,
            wa / wb,
            wa * wb + wa,
            np.maximum(wa, wb),
            -wa,
            wa * wb,
            np.where(wa > wb, wa, 1),
        ]
        for i, row in enumerate(expected):
            np.testing.assert_array_equal(
                out[i].astype(np.float32),
                row.astype(np.float32).astype(dtype).astype(np.float32),
                err_msg=f"{name} {i}",
            )
    a, b = r.standard_normal(128).astype(np.float16), r.standard_normal(128).astype(np.float16)
    out, f = np.zeros(128, np.float16), np.zeros(128, np.float32)
    program.launch("pairs", 1, 64, (a, b, out, f))
    fused = (a.astype(np.float64) * b.astype(np.float64) + 1).astype(np.float16)
    np.testing.assert_array_equal(out[1::2], fused[1::2])
    np.testing.assert_array_equal(
        out[::2], (fused[::2].astype(np.float32) + a[1::2].astype(np.float32)).astype(np.float16)
    )
    np.testing.assert_array_equal(f, (a + b).astype(np.float32))


FP8 = [
    ("__nv_fp8_e4m3", "float8_e4m3fn", 448.0), ("__nv_fp8_e5m2", "float8_e5m2", 57344.0),
    ("__hip_fp8_e4m3_fnuz", "float8_e4m3fnuz", 240.0), ("__hip_fp8_e5m2_fnuz", "float8_e5m2fnuz", 57344.0),
]  # fmt: skip


@pytest.mark.parametrize("name,reference,largest", FP8)
def test_fp8(compile_source: Any, name: str, reference: str, largest: float) -> None:
    program = compile_source(
        f"""
        #include <cuda_fp8.h>
        __global__ void encode(const float* x, {name}* out, int n) {{ for (int i = threadIdx.x; i < n; i += 32) out[i] = {name}(x[i]); }}
        __global__ void decode(const {name}* x, float* out, int n) {{ for (int i = threadIdx.x; i < n; i += 32) out[i] = float(x[i]); }}
        """
    )
    dtype = getattr(ml_dtypes, reference)
    codes = np.arange(256, dtype=np.uint8)
    values = np.zeros(256, np.float32)
    program.launch("decode", 1, 32, (codes, values, 256))
    np.testing.assert_array_equal(values, codes.view(dtype).astype(np.float32))
    finite = np.sort(values[np.isfinite(values)])
    x = np.concatenate(
        [finite, (finite[1:] + finite[:-1]) / 2, np.random.default_rng(1).uniform(-largest, largest, 500)]
    ).astype(np.float32)
    out = np.zeros(x.size, np.uint8)
    program.launch("encode", 1, 32, (x, out, x.size))
    np.testing.assert_array_equal(out.view(dtype).astype(np.float32), x.astype(dtype).astype(np.float32))
    beyond = np.array([largest * 4, -np.inf, np.inf], np.float32)
    out = np.zeros(3, np.uint8)
    program.launch("encode", 1, 32, (beyond, out, 3))
    np.testing.assert_array_equal(out.view(dtype).astype(np.float32), [largest, -largest, largest])


def test_vector_types_have_the_devices_alignment(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void k(int* out, const float4* x, float4* y) {
          int v[] = {sizeof(float3), alignof(float4), alignof(double2), alignof(uchar4), sizeof(longlong2), alignof(short2), alignof(int3), alignof(double4)};
          if (threadIdx.x < 8) out[threadIdx.x] = v[threadIdx.x];
          float4 a = x[threadIdx.x];
          y[threadIdx.x] = make_float4(a.w, a.z, a.y, a.x);
        }
        """,
        check=check,
    )
    out, x = np.zeros(8, np.int32), np.arange(64, dtype=np.float32)
    y = np.zeros_like(x)
    program.launch("k", 1, 16, (out, x, y))
    assert out.tolist() == [12, 16, 16, 4, 16, 4, 4, 16]
    np.testing.assert_array_equal(y.reshape(16, 4), x.reshape(16, 4)[:, ::-1])


def test_integer_and_math_intrinsics(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        __global__ void ints(unsigned* o) {
          o[0] = __popc(0xF0F0u); o[1] = __clz(1); o[2] = __clz(0); o[3] = __ffs(8); o[4] = __brev(1u); o[5] = __byte_perm(0x33221100u, 0x77665544u, 0x7531u);
          o[6] = __umulhi(0x80000000u, 6u); o[7] = __funnelshift_l(0x80000000u, 1u, 1); o[8] = __dp4a(0x01020304, 0x01010102, 5); o[9] = __mul24(5, -3);
          o[10] = __float2int_rn(2.5f); o[11] = __float2int_rz(-2.7f); o[12] = __float2int_ru(2.1f); o[13] = __float2int_rd(-2.1f);
          o[14] = __float_as_uint(1.0f); o[15] = __float2int_rz(1e20f); o[16] = __float2int_rz(NAN); o[17] = __sad(3, 10, 1); o[18] = __vadd4(0x01ff0203u, 0x01010101u);
          o[19] = min(3, 7u); o[20] = max(-1, 2); o[21] = abs(-5); o[22] = __float2uint_rz(-4.0f); o[23] = __popcll(~0ull); o[24] = __mulhi(-2, 1 << 30);
        }
        __global__ void floats(const float* x, float* o, int n) {
          int i = threadIdx.x;
          float v = x[i];
          o[i] = rsqrtf(v); o[n + i] = __expf(v); o[2 * n + i] = __logf(v); o[3 * n + i] = __powf(v, 1.5f); o[4 * n + i] = __fdividef(v, 3.0f);
          o[5 * n + i] = sinpif(v); o[6 * n + i] = erff(v); o[7 * n + i] = __saturatef(v - 1); o[8 * n + i] = normcdff(v); o[9 * n + i] = exp10f(v / 4);
          o[10 * n + i] = erfinvf(v / 5); o[11 * n + i] = abs(-v); o[12 * n + i] = fmaf(v, v, 1.0f); o[13 * n + i] = __fadd_rz(v, 1e-9f); o[14 * n + i] = __fadd_ru(v, 1e-9f);
        }
        """,
        check=check,
    )
    o = np.zeros(25, np.uint32)
    program.launch("ints", 1, 1, (o,))
    signed = o.astype(np.int32).tolist()
    assert signed[:5] == [8, 31, 32, 4, -(2**31)] and o[5] == 0x77553311
    assert signed[6:14] == [3, 3, 5 + 2 * 4 + 3 + 2 + 1, -15, 2, -2, 3, -3]
    assert o[14] == 0x3F800000 and signed[15:18] == [2**31 - 1, 0, 8] and o[18] == 0x02000304
    assert signed[19:25] == [3, 2, 5, 0, 64, -1]
    x = np.linspace(0.1, 4, 32).astype(np.float32)
    out = np.zeros((15, 32), np.float32)
    program.launch("floats", 1, 32, (x, out, 32))
    math = pytest.importorskip("math")
    d = x.astype(np.float64)
    erf = np.vectorize(math.erf)
    expected = [
        1 / np.sqrt(d),
        np.exp(d),
        np.log(d),
        d**1.5,
        d / 3,
        np.sin(np.pi * d),
        erf(d),
        np.clip(d - 1, 0, 1),
        (1 + erf(d / 2**0.5)) / 2,
        10 ** (d / 4),
    ]
    for i, row in enumerate(expected):
        np.testing.assert_allclose(out[i], row, rtol=3e-6, atol=1e-6, err_msg=str(i))
    np.testing.assert_allclose(erf(out[10].astype(np.float64)), d / 5, rtol=1e-6)
    np.testing.assert_array_equal(out[11], x)
    np.testing.assert_array_equal(out[13], x)
    np.testing.assert_array_equal(out[14], np.nextafter(x, np.float32(np.inf)))


def test_atomics_of_all_types(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <cuda_fp16.h>
        #include <cuda_bf16.h>
        template <typename T> __device__ void common(T* o, T v) { atomicAdd(o, v); atomicMax(o + 1, v); atomicMin(o + 2, v); atomicExch(o + 3, T(9)); }
        __global__ void k(int* i, unsigned* u, unsigned long long* l, float* f, double* d, __half* h, __nv_bfloat16* b, __half2* h2) {
          int t = threadIdx.x;
          common(i, t - 5); common(u, (unsigned)t); common(l, (unsigned long long)t << 33);
          atomicAdd(f, 0.5f); atomicAdd_block(f, 0.5f); atomicAdd_system(d, 0.25); atomicAdd(d, 1); atomicAdd(h, __float2half(1.0f)); atomicAdd(b, __float2bfloat16(1.0f));
          atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
          atomicAnd(i + 4, ~(1 << t)); atomicOr(i + 5, 1 << t); atomicXor(i + 6, 1 << t); atomicSub(i + 7, 2);
          atomicInc(u + 4, 9u); atomicDec(u + 5, 6u);
          int old = i[8], assumed; do { assumed = old; old = atomicCAS(&i[8], assumed, assumed * 2 % 1000003); } while (old != assumed);
          unsafeAtomicAdd(f + 1, 1.0f);
        }
        """,
        check=check,
    )
    i, u, w = (
        np.array([0, -99, 99, 0, -1, 0, 0, 100, 1], np.int32),
        np.array([0, 0, 99, 0, 0, 3], np.uint32),
        np.array([0, 0, 2**60, 0], np.uint64),
    )
    f, d, h, b, h2 = (
        np.zeros(2, np.float32),
        np.zeros(1),
        np.zeros(1, np.float16),
        np.zeros(1, ml_dtypes.bfloat16),
        np.zeros(2, np.float16),
    )
    program.launch("k", 1, 20, (i, u, w, f, d, h, b, h2))
    assert i.tolist() == [90, 14, -5, 9, ~(2**20 - 1), 2**20 - 1, 2**20 - 1, 60, pow(2, 20, 1000003)]
    assert u.tolist() == [190, 19, 0, 9, 0, 4] and w.tolist() == [190 << 33, 19 << 33, 0, 9]
    assert f.tolist() == [20, 20] and d[0] == 25 and h[0] == 20 and float(b[0]) == 20 and h2.tolist() == [20, 40]


@pytest.mark.parametrize("ctype,dtype,exact", [("__half", np.float16, 2e-5), ("__nv_bfloat16", "bf16", 2e-5)])
def test_wmma(compile_source: Any, check: bool, ctype: str, dtype: Any, exact: float) -> None:
    program = compile_source(
        f"""
        #include <mma.h>
        #include <cuda_fp16.h>
        using namespace nvcuda;
        __global__ void k(const {ctype}* a, const {ctype}* b, float* c, int m, int n, int kk) {{
          int row = blockIdx.y * 16, col = blockIdx.x * 16;
          wmma::fragment<wmma::matrix_a, 16, 16, 16, {ctype}, wmma::row_major> fa;
          wmma::fragment<wmma::matrix_b, 16, 16, 16, {ctype}, wmma::col_major> fb;
          wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
          wmma::fill_fragment(fc, 0.0f);
          for (int i = 0; i < kk; i += 16) {{
            wmma::load_matrix_sync(fa, a + row * kk + i, kk);
            wmma::load_matrix_sync(fb, b + col * kk + i, kk);
            wmma::mma_sync(fc, fa, fb, fc);
          }}
          for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 2.0f;
          wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
        }}
        """,
        check=check,
    )
    kind = ml_dtypes.bfloat16 if dtype == "bf16" else dtype
    r = np.random.default_rng(7)
    a, b = r.standard_normal((32, 48)).astype(kind), r.standard_normal((64, 48)).astype(kind)
    c = np.zeros((32, 64), np.float32)
    program.launch("k", (4, 2), 32, (a, b, c, 32, 64, 48))
    np.testing.assert_allclose(c, 2 * a.astype(np.float32) @ b.astype(np.float32).T, rtol=exact, atol=exact)


def test_random_numbers(compile_source: Any, check: bool) -> None:
    program = compile_source(
        """
        #include <curand_kernel.h>
        __global__ void philox(unsigned* out, unsigned long long seed, unsigned long long subsequence, unsigned long long offset) {
          curandStatePhilox4_32_10_t s;
          curand_init(seed, subsequence, offset, &s);
          for (int i = 0; i < 8; ++i) out[i] = curand(&s);
        }
        __global__ void xorwow(unsigned* out, unsigned long long sequence, unsigned long long offset, curandState* state) {
          curand_init(1234ull, sequence, offset, state);
          for (int i = 0; i < 8; ++i) out[i] = curand(state);
        }
        __global__ void normals(float* out, int n) {
          curandState s;
          curand_init(42, blockIdx.x * blockDim.x + threadIdx.x, 0, &s);
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          out[i] = curand_normal(&s); out[n + i] = curand_uniform(&s);
        }
        """,
        check=check,
    )
    out = np.zeros(8, np.uint32)
    program.launch("philox", 1, 1, (out, 0, 0, 0))
    # Known answer of Philox4x32-10 for counter 0 and key 0 (Random123, kat_vectors).
    assert [hex(v) for v in out[:4].tolist()] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    program.launch("philox", 1, 1, (later := np.zeros(8, np.uint32), 0, 0, 3))
    assert later[:5].tolist() == out[3:].tolist()
    state = np.zeros(32, np.uint8)
    program.launch("xorwow", 1, 1, (out, 0, 0, state))
    program.launch("xorwow", 1, 1, (later, 0, 5, state))
    assert later[:3].tolist() == out[5:].tolist()
    program.launch("xorwow", 1, 1, (later, 1, 0, state))
    assert later.tolist() != out.tolist()
    values = np.zeros((2, 4096), np.float32)
    program.launch("normals", 16, 256, (values, 4096))
    assert abs(values[0].mean()) < 0.06 and abs(values[0].std() - 1) < 0.05
    assert values[1].min() > 0 and values[1].max() <= 1 and abs(values[1].mean() - 0.5) < 0.02
