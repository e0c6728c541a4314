// Intrinsics over the 16-bit types and their pairs. Results are those of the exact operation rounded once: a float has
// more than twice the digits, so rounding its result gives the same; fused operations go through double.
#pragma once

#define SIMT_SMALL_UNARY(Type, Pair, name, pair_name, expression)                                      \
  SIMT_INLINE Type name(Type h) { float v = h; return Type(expression); }                              \
  SIMT_INLINE Pair pair_name(Pair p) { return Pair(name(p.x), name(p.y)); }
#define SIMT_SMALL_BINARY(Type, Pair, name, pair_name, expression)                                     \
  SIMT_INLINE Type name(Type g, Type h) { float a = g, b = h; return Type(expression); }               \
  SIMT_INLINE Pair pair_name(Pair p, Pair q) { return Pair(name(p.x, q.x), name(p.y, q.y)); }
#define SIMT_SMALL_TEST(Type, Pair, name, op, ordered)                                                 \
  SIMT_INLINE bool __h##name(Type g, Type h) { float a = g, b = h; return (ordered) && (a op b); }      \
  SIMT_INLINE bool __h##name##u(Type g, Type h) { float a = g, b = h; return a != a || b != b || (a op b); } \
  SIMT_INLINE Pair __h##name##2(Pair p, Pair q) { return Pair(Type(__h##name(p.x, q.x) ? 1.0f : 0.0f), Type(__h##name(p.y, q.y) ? 1.0f : 0.0f)); } \
  SIMT_INLINE bool __hb##name##2(Pair p, Pair q) { return __h##name(p.x, q.x) && __h##name(p.y, q.y); }

namespace simt {
SIMT_INLINE float nan_max(float a, float b) { return a != a || b != b ? NAN : fmaxf(a, b); }
SIMT_INLINE float nan_min(float a, float b) { return a != a || b != b ? NAN : fminf(a, b); }
SIMT_INLINE double unit(double v) { return v > 0 ? (v < 1 ? v : 1.0) : 0.0; }
}  // namespace simt

#define SIMT_SMALL_MATH(Type, Pair)                                                                    \
  SIMT_SMALL_BINARY(Type, Pair, __hadd, __hadd2, a + b) SIMT_SMALL_BINARY(Type, Pair, __hsub, __hsub2, a - b)   \
  SIMT_SMALL_BINARY(Type, Pair, __hmul, __hmul2, a * b) SIMT_SMALL_BINARY(Type, Pair, __hdiv, __h2div, a / b)   \
  SIMT_SMALL_BINARY(Type, Pair, __hadd_rn, __hadd2_rn, a + b) SIMT_SMALL_BINARY(Type, Pair, __hsub_rn, __hsub2_rn, a - b) \
  SIMT_SMALL_BINARY(Type, Pair, __hmul_rn, __hmul2_rn, a * b)                                          \
  SIMT_SMALL_BINARY(Type, Pair, __hadd_sat, __hadd2_sat, simt::unit(a + b)) SIMT_SMALL_BINARY(Type, Pair, __hsub_sat, __hsub2_sat, simt::unit(a - b)) \
  SIMT_SMALL_BINARY(Type, Pair, __hmul_sat, __hmul2_sat, simt::unit(a * b))                             \
  SIMT_SMALL_BINARY(Type, Pair, __hmax, __hmax2, fmaxf(a, b)) SIMT_SMALL_BINARY(Type, Pair, __hmin, __hmin2, fminf(a, b)) \
  SIMT_SMALL_BINARY(Type, Pair, __hmax_nan, __hmax2_nan, simt::nan_max(a, b)) SIMT_SMALL_BINARY(Type, Pair, __hmin_nan, __hmin2_nan, simt::nan_min(a, b)) \
  SIMT_INLINE Type __hfma(Type a, Type b, Type c) { return Type(static_cast<double>(static_cast<float>(a)) * static_cast<float>(b) + static_cast<float>(c)); } \
  SIMT_INLINE Type __hfma_relu(Type a, Type b, Type c) { Type r = __hfma(a, b, c); return static_cast<float>(r) > 0 ? r : Type(0.0f); } \
  SIMT_INLINE Type __hfma_sat(Type a, Type b, Type c) { return Type(simt::unit(static_cast<double>(static_cast<float>(a)) * static_cast<float>(b) + static_cast<float>(c))); } \
  SIMT_INLINE Pair __hfma2(Pair a, Pair b, Pair c) { return Pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); } \
  SIMT_INLINE Pair __hfma2_relu(Pair a, Pair b, Pair c) { return Pair(__hfma_relu(a.x, b.x, c.x), __hfma_relu(a.y, b.y, c.y)); } \
  SIMT_SMALL_UNARY(Type, Pair, __hneg, __hneg2, -v) SIMT_SMALL_UNARY(Type, Pair, __habs, __habs2, fabsf(v)) \
  SIMT_SMALL_UNARY(Type, Pair, hexp, h2exp, expf(v)) SIMT_SMALL_UNARY(Type, Pair, hexp2, h2exp2, exp2f(v))  \
  SIMT_SMALL_UNARY(Type, Pair, hexp10, h2exp10, powf(10.0f, v)) SIMT_SMALL_UNARY(Type, Pair, hlog, h2log, logf(v)) \
  SIMT_SMALL_UNARY(Type, Pair, hlog2, h2log2, log2f(v)) SIMT_SMALL_UNARY(Type, Pair, hlog10, h2log10, log10f(v)) \
  SIMT_SMALL_UNARY(Type, Pair, hsqrt, h2sqrt, sqrtf(v)) SIMT_SMALL_UNARY(Type, Pair, hrsqrt, h2rsqrt, 1.0f / sqrtf(v)) \
  SIMT_SMALL_UNARY(Type, Pair, hrcp, h2rcp, 1.0f / v) SIMT_SMALL_UNARY(Type, Pair, hsin, h2sin, sinf(v))  \
  SIMT_SMALL_UNARY(Type, Pair, hcos, h2cos, cosf(v)) SIMT_SMALL_UNARY(Type, Pair, htanh, h2tanh, tanhf(v)) \
  SIMT_SMALL_UNARY(Type, Pair, hfloor, h2floor, floorf(v)) SIMT_SMALL_UNARY(Type, Pair, hceil, h2ceil, ceilf(v)) \
  SIMT_SMALL_UNARY(Type, Pair, htrunc, h2trunc, truncf(v)) SIMT_SMALL_UNARY(Type, Pair, hrint, h2rint, rintf(v)) \
  SIMT_SMALL_TEST(Type, Pair, eq, ==, true) SIMT_SMALL_TEST(Type, Pair, ne, !=, a == a && b == b)       \
  SIMT_SMALL_TEST(Type, Pair, lt, <, true) SIMT_SMALL_TEST(Type, Pair, le, <=, true)                     \
  SIMT_SMALL_TEST(Type, Pair, gt, >, true) SIMT_SMALL_TEST(Type, Pair, ge, >=, true)                     \
  SIMT_INLINE bool __hisnan(Type h) { return std::isnan(static_cast<float>(h)); }                       \
  SIMT_INLINE int __hisinf(Type h) { float v = h; return std::isinf(v) ? (v > 0 ? 1 : -1) : 0; }         \
  SIMT_INLINE bool isnan(Type h) { return __hisnan(h); }                                                \
  SIMT_INLINE bool isinf(Type h) { return __hisinf(h) != 0; }                                           \
  SIMT_INLINE float __low2float(Pair p) { return p.x; }                                                 \
  SIMT_INLINE float __high2float(Pair p) { return p.y; }                                                \
  SIMT_INLINE Pair __lowhigh2highlow(Pair p) { return Pair(p.y, p.x); }                                 \
  SIMT_INLINE Pair __lows2(Pair p, Pair q) { return Pair(p.x, q.x); }                                   \
  SIMT_INLINE Pair __highs2(Pair p, Pair q) { return Pair(p.y, q.y); }                                  \
  SIMT_INLINE Type max(Type a, Type b) { return __hmax(a, b); }                                         \
  SIMT_INLINE Type min(Type a, Type b) { return __hmin(a, b); }
SIMT_SMALL_MATH(__half, __half2)
SIMT_SMALL_MATH(__nv_bfloat16, __nv_bfloat162)

// The names that carry the type.
#define SIMT_SMALL_NAMES(Type, Pair, small, pair)                                                      \
  SIMT_INLINE Type __float2##small(float v) { return Type(v); }                                        \
  SIMT_INLINE Type __float2##small##_rn(float v) { return Type(v); }                                   \
  SIMT_INLINE Type __double2##small(double v) { return Type(v); }                                      \
  SIMT_INLINE float __##small##2float(Type v) { return v; }                                            \
  SIMT_INLINE Type __int2##small##_rn(int v) { return Type(v); }                                       \
  SIMT_INLINE Type __uint2##small##_rn(unsigned v) { return Type(v); }                                 \
  SIMT_INLINE Type __short2##small##_rn(short v) { return Type(v); }                                   \
  SIMT_INLINE Type __ushort2##small##_rn(unsigned short v) { return Type(v); }                         \
  SIMT_INLINE Type __ll2##small##_rn(long long v) { return Type(v); }                                  \
  SIMT_INLINE int __##small##2int_rn(Type v) { return __float2int_rn(v); }                             \
  SIMT_INLINE int __##small##2int_rz(Type v) { return __float2int_rz(v); }                             \
  SIMT_INLINE int __##small##2int_rd(Type v) { return __float2int_rd(v); }                             \
  SIMT_INLINE int __##small##2int_ru(Type v) { return __float2int_ru(v); }                             \
  SIMT_INLINE unsigned __##small##2uint_rz(Type v) { return __float2uint_rz(v); }                      \
  SIMT_INLINE unsigned __##small##2uint_rn(Type v) { return __float2uint_rn(v); }                      \
  SIMT_INLINE short __##small##_as_short(Type v) { return static_cast<short>(v.x); }                   \
  SIMT_INLINE unsigned short __##small##_as_ushort(Type v) { return v.x; }                             \
  SIMT_INLINE Type __short_as_##small(short v) { return Type::from(static_cast<unsigned short>(v)); }  \
  SIMT_INLINE Type __ushort_as_##small(unsigned short v) { return Type::from(v); }                     \
  SIMT_INLINE Pair __float2##pair##_rn(float v) { return Pair(Type(v), Type(v)); }                     \
  SIMT_INLINE Pair __floats2##pair##_rn(float a, float b) { return Pair(Type(a), Type(b)); }           \
  SIMT_INLINE Pair __float22##pair##_rn(float2 v) { return Pair(Type(v.x), Type(v.y)); }               \
  SIMT_INLINE Pair __##small##2##pair(Type v) { return Pair(v, v); }                                   \
  SIMT_INLINE Type __low2##small(Pair p) { return p.x; }                                               \
  SIMT_INLINE Type __high2##small(Pair p) { return p.y; }                                              \
  SIMT_INLINE Pair __low2##pair(Pair p) { return Pair(p.x, p.x); }                                     \
  SIMT_INLINE Pair __high2##pair(Pair p) { return Pair(p.y, p.y); }                                    \
  SIMT_INLINE Pair make_##pair(Type a, Type b) { return Pair(a, b); }
SIMT_SMALL_NAMES(__half, __half2, half, half2)
SIMT_SMALL_NAMES(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
SIMT_INLINE __half __float2half_rz(float v) { __half h(v); return std::fabs(static_cast<float>(h)) > std::fabs(v) ? __half::from(static_cast<unsigned short>(h.x - 1)) : h; }
SIMT_INLINE __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
SIMT_INLINE __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat162(a, b); }
SIMT_INLINE float2 __half22float2(__half2 p) { return make_float2(p.x, p.y); }
SIMT_INLINE float2 __bfloat1622float2(__nv_bfloat162 p) { return make_float2(p.x, p.y); }
#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
