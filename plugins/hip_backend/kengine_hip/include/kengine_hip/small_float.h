// The pattern of the two 16-bit floating types: a native type of the compiler in a struct, its operators, its pair, and
// the intrinsics over both.
#pragma once

#define KENGINE_NUMBER(A) class A, class = typename kengine::If<kengine::is_arithmetic<A>>::type
#define KENGINE_SMALL_ASSIGN(Type, op) \
  KENGINE_MEMBER Type& operator op##=(const Type& o) { data = data op o.data; return *this; }
#define KENGINE_SMALL_OPERATOR(Type, op) \
  KENGINE_HD Type operator op(const Type& a, const Type& b) { return Type::of(a.data op b.data); }
#define KENGINE_SMALL_COMPARE(Type, op) \
  KENGINE_HD bool operator op(const Type& a, const Type& b) { return a.data op b.data; }
#define KENGINE_PAIR_OPERATOR(Pair, op)                                                               \
  KENGINE_HD Pair operator op(const Pair& a, const Pair& b) { return Pair(a.x op b.x, a.y op b.y); }   \
  KENGINE_HD Pair& operator op##=(Pair& a, const Pair& b) { return a = a op b; }

#define KENGINE_SMALL_FLOAT(Type, Pair, Raw, Native)                                                  \
  struct Raw { unsigned short x; };                                                                   \
  struct Type {                                                                                       \
    Native data;                                                                                      \
    Type() = default;                                                                                 \
    KENGINE_MEMBER Type(float v) : data((Native)v) {}                                                 \
    KENGINE_MEMBER Type(double v) : data((Native)(float)v) {}                                         \
    KENGINE_MEMBER Type(int v) : data((Native)(float)v) {}                                            \
    KENGINE_MEMBER Type(unsigned v) : data((Native)(float)v) {}                                       \
    KENGINE_MEMBER Type(long v) : data((Native)(float)v) {}                                           \
    KENGINE_MEMBER Type(unsigned long v) : data((Native)(float)v) {}                                  \
    KENGINE_MEMBER Type(long long v) : data((Native)(float)v) {}                                      \
    KENGINE_MEMBER Type(unsigned long long v) : data((Native)(float)v) {}                             \
    KENGINE_MEMBER Type(short v) : data((Native)(float)v) {}                                          \
    KENGINE_MEMBER Type(unsigned short v) : data((Native)(float)v) {}                                 \
    KENGINE_MEMBER Type(Raw r) { __builtin_memcpy(&data, &r, 2); }                                    \
    KENGINE_MEMBER operator Raw() const { Raw r; __builtin_memcpy(&r, &data, 2); return r; }          \
    KENGINE_MEMBER static Type of(Native v) { Type r; r.data = v; return r; }                         \
    KENGINE_MEMBER operator float() const { return (float)data; }                                     \
    KENGINE_MEMBER Type operator-() const { return of(-data); }                                       \
    KENGINE_MEMBER Type operator+() const { return *this; }                                           \
    KENGINE_SMALL_ASSIGN(Type, +) KENGINE_SMALL_ASSIGN(Type, -) KENGINE_SMALL_ASSIGN(Type, *) KENGINE_SMALL_ASSIGN(Type, /) \
  };                                                                                                  \
  KENGINE_SMALL_OPERATOR(Type, +) KENGINE_SMALL_OPERATOR(Type, -) KENGINE_SMALL_OPERATOR(Type, *) KENGINE_SMALL_OPERATOR(Type, /) \
  KENGINE_SMALL_COMPARE(Type, ==) KENGINE_SMALL_COMPARE(Type, !=) KENGINE_SMALL_COMPARE(Type, <) KENGINE_SMALL_COMPARE(Type, >) \
  KENGINE_SMALL_COMPARE(Type, <=) KENGINE_SMALL_COMPARE(Type, >=)                                     \
  KENGINE_MIXED(Type, +) KENGINE_MIXED(Type, -) KENGINE_MIXED(Type, *) KENGINE_MIXED(Type, /)         \
  KENGINE_MIXED(Type, <) KENGINE_MIXED(Type, >) KENGINE_MIXED(Type, <=) KENGINE_MIXED(Type, >=)       \
  KENGINE_MIXED(Type, ==) KENGINE_MIXED(Type, !=)                                                     \
  struct __attribute__((aligned(4))) Pair {                                                           \
    Type x, y;                                                                                        \
    Pair() = default;                                                                                 \
    KENGINE_MEMBER Pair(Type a, Type b) : x(a), y(b) {}                                               \
    KENGINE_MEMBER Pair operator-() const { return Pair(-x, -y); }                                    \
  };                                                                                                  \
  KENGINE_PAIR_OPERATOR(Pair, +) KENGINE_PAIR_OPERATOR(Pair, -) KENGINE_PAIR_OPERATOR(Pair, *) KENGINE_PAIR_OPERATOR(Pair, /) \
  KENGINE_D Type atomicAdd(Type* p, Type v) { return kengine::add_small(p, v); }                      \
  KENGINE_D Pair atomicAdd(Pair* p, Pair v) { return kengine::add_small(p, v); }                      \
  KENGINE_D Type unsafeAtomicAdd(Type* p, Type v) { return kengine::add_small(p, v); }                \
  KENGINE_D Pair unsafeAtomicAdd(Pair* p, Pair v) { return kengine::add_small(p, v); }
// A number on the other side makes it a float.
#define KENGINE_MIXED(Type, op)                                                                       \
  template <KENGINE_NUMBER(A)> KENGINE_HD auto operator op(const Type& a, A b) { return (float)a.data op b; } \
  template <KENGINE_NUMBER(A)> KENGINE_HD auto operator op(A a, const Type& b) { return a op (float)b.data; }

#define KENGINE_SMALL_1(Type, Pair, name, pair, expression)                                           \
  KENGINE_D Type name(Type h) { float v = h; return Type((float)(expression)); }                      \
  KENGINE_D Pair pair(Pair p) { return Pair(name(p.x), name(p.y)); }
#define KENGINE_SMALL_2(Type, Pair, name, pair, expression)                                           \
  KENGINE_HD Type name(Type a, Type b) { return expression; }                                         \
  KENGINE_HD Pair pair(Pair p, Pair q) { return Pair(name(p.x, q.x), name(p.y, q.y)); }
#define KENGINE_SMALL_TEST(Type, Pair, name, op)                                                      \
  KENGINE_HD bool __h##name(Type a, Type b) { return a.data op b.data; }                              \
  KENGINE_HD bool __h##name##u(Type a, Type b) { return a.data != a.data || b.data != b.data || a.data op b.data; } \
  KENGINE_HD Pair __h##name##2(Pair p, Pair q) { return Pair(Type(__h##name(p.x, q.x) ? 1.0f : 0.0f), Type(__h##name(p.y, q.y) ? 1.0f : 0.0f)); } \
  KENGINE_HD bool __hb##name##2(Pair p, Pair q) { return __h##name(p.x, q.x) && __h##name(p.y, q.y); }

#define KENGINE_SMALL_MATH(Type, Pair)                                                                \
  KENGINE_SMALL_2(Type, Pair, __hadd, __hadd2, a + b) KENGINE_SMALL_2(Type, Pair, __hsub, __hsub2, a - b) \
  KENGINE_SMALL_2(Type, Pair, __hmul, __hmul2, a * b) KENGINE_SMALL_2(Type, Pair, __hdiv, __h2div, a / b) \
  KENGINE_SMALL_2(Type, Pair, __hadd_rn, __hadd2_rn, a + b) KENGINE_SMALL_2(Type, Pair, __hsub_rn, __hsub2_rn, a - b) \
  KENGINE_SMALL_2(Type, Pair, __hmul_rn, __hmul2_rn, a * b)                                           \
  KENGINE_SMALL_2(Type, Pair, __hmax, __hmax2, a != a ? b : b != b ? a : a < b ? b : a)               \
  KENGINE_SMALL_2(Type, Pair, __hmin, __hmin2, a != a ? b : b != b ? a : b < a ? b : a)               \
  KENGINE_SMALL_2(Type, Pair, __hmax_nan, __hmax2_nan, a != a ? a : b != b ? b : a < b ? b : a)       \
  KENGINE_SMALL_2(Type, Pair, __hmin_nan, __hmin2_nan, a != a ? a : b != b ? b : b < a ? b : a)       \
  KENGINE_D Type __hadd_sat(Type a, Type b) { return Type(saturatef(a + b)); }                        \
  KENGINE_D Type __hsub_sat(Type a, Type b) { return Type(saturatef(a - b)); }                        \
  KENGINE_D Type __hmul_sat(Type a, Type b) { return Type(saturatef(a * b)); }                        \
  KENGINE_D Type __hfma(Type a, Type b, Type c) { return Type((float)__builtin_fma((double)(float)a, (double)(float)b, (double)(float)c)); } \
  KENGINE_D Pair __hfma2(Pair a, Pair b, Pair c) { return Pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); } \
  KENGINE_SMALL_1(Type, Pair, __hneg, __hneg2, -v) KENGINE_SMALL_1(Type, Pair, __habs, __habs2, fabsf(v)) \
  KENGINE_SMALL_1(Type, Pair, hexp, h2exp, expf(v)) KENGINE_SMALL_1(Type, Pair, hexp2, h2exp2, exp2f(v)) \
  KENGINE_SMALL_1(Type, Pair, hexp10, h2exp10, exp10f(v)) KENGINE_SMALL_1(Type, Pair, hlog, h2log, logf(v)) \
  KENGINE_SMALL_1(Type, Pair, hlog2, h2log2, log2f(v)) KENGINE_SMALL_1(Type, Pair, hlog10, h2log10, log10f(v)) \
  KENGINE_SMALL_1(Type, Pair, hsqrt, h2sqrt, sqrtf(v)) KENGINE_SMALL_1(Type, Pair, hrsqrt, h2rsqrt, rsqrtf(v)) \
  KENGINE_SMALL_1(Type, Pair, hrcp, h2rcp, 1.0f / v) KENGINE_SMALL_1(Type, Pair, hsin, h2sin, sinf(v)) \
  KENGINE_SMALL_1(Type, Pair, hcos, h2cos, cosf(v)) KENGINE_SMALL_1(Type, Pair, htanh, h2tanh, tanhf(v)) \
  KENGINE_SMALL_1(Type, Pair, hfloor, h2floor, floorf(v)) KENGINE_SMALL_1(Type, Pair, hceil, h2ceil, ceilf(v)) \
  KENGINE_SMALL_1(Type, Pair, htrunc, h2trunc, truncf(v)) KENGINE_SMALL_1(Type, Pair, hrint, h2rint, rintf(v)) \
  KENGINE_SMALL_TEST(Type, Pair, eq, ==) KENGINE_SMALL_TEST(Type, Pair, ne, !=)                       \
  KENGINE_SMALL_TEST(Type, Pair, lt, <) KENGINE_SMALL_TEST(Type, Pair, le, <=)                        \
  KENGINE_SMALL_TEST(Type, Pair, gt, >) KENGINE_SMALL_TEST(Type, Pair, ge, >=)                        \
  KENGINE_HD bool __hisnan(Type h) { return h.data != h.data; }                                       \
  KENGINE_HD int __hisinf(Type h) { float v = h; return __builtin_isinf(v) ? (v > 0 ? 1 : -1) : 0; }  \
  KENGINE_D bool isnan(Type h) { return __hisnan(h); }                                                \
  KENGINE_D bool isinf(Type h) { return __hisinf(h) != 0; }                                           \
  KENGINE_HD float __low2float(Pair p) { return p.x; }                                                \
  KENGINE_HD float __high2float(Pair p) { return p.y; }                                               \
  KENGINE_HD Pair __lowhigh2highlow(Pair p) { return Pair(p.y, p.x); }                                \
  KENGINE_HD Pair __lows2(Pair p, Pair q) { return Pair(p.x, q.x); }                                  \
  KENGINE_HD Pair __highs2(Pair p, Pair q) { return Pair(p.y, q.y); }                                 \
  KENGINE_D Type max(Type a, Type b) { return __hmax(a, b); }                                         \
  KENGINE_D Type min(Type a, Type b) { return __hmin(a, b); }

// Names that carry the type: __float2half, __half22float2, …
#define KENGINE_SMALL_NAMES(Type, Pair, small)                                                        \
  KENGINE_HD Type __float2##small(float v) { return Type(v); }                                        \
  KENGINE_HD Type __float2##small##_rn(float v) { return Type(v); }                                   \
  KENGINE_HD Type __double2##small(double v) { return Type(v); }                                      \
  KENGINE_HD float __##small##2float(Type v) { return v; }                                            \
  KENGINE_HD Type __int2##small##_rn(int v) { return Type(v); }                                       \
  KENGINE_HD Type __uint2##small##_rn(unsigned v) { return Type(v); }                                 \
  KENGINE_HD Type __short2##small##_rn(short v) { return Type(v); }                                   \
  KENGINE_HD Type __ushort2##small##_rn(unsigned short v) { return Type(v); }                         \
  KENGINE_HD Type __ll2##small##_rn(long long v) { return Type(v); }                                  \
  KENGINE_D int __##small##2int_rn(Type v) { return __float2int_rn(v); }                              \
  KENGINE_D int __##small##2int_rz(Type v) { return __float2int_rz(v); }                              \
  KENGINE_D int __##small##2int_rd(Type v) { return __float2int_rd(v); }                              \
  KENGINE_D int __##small##2int_ru(Type v) { return __float2int_ru(v); }                              \
  KENGINE_D unsigned __##small##2uint_rn(Type v) { return __float2uint_rn(v); }                       \
  KENGINE_D unsigned __##small##2uint_rz(Type v) { return __float2uint_rz(v); }                       \
  KENGINE_HD short __##small##_as_short(Type v) { return __builtin_bit_cast(short, v.data); }         \
  KENGINE_HD unsigned short __##small##_as_ushort(Type v) { return __builtin_bit_cast(unsigned short, v.data); }
