// Mathematical functions of device code, over the functions of AMD's device library (ocml).
#pragma once

#ifndef INFINITY
#define INFINITY (__builtin_inff())
#endif
#ifndef NAN
#define NAN (__builtin_nanf(""))
#endif
#ifndef HUGE_VAL
#define HUGE_VAL (__builtin_huge_val())
#endif
#ifndef FLT_MAX
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define DBL_MAX __DBL_MAX__
#define DBL_MIN __DBL_MIN__
#define DBL_EPSILON __DBL_EPSILON__
#endif
#ifndef INT_MAX
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (__INT_MAX__ * 2U + 1U)
#define LLONG_MAX __LONG_LONG_MAX__
#endif
#ifndef M_PI
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define M_2_SQRTPI 1.12837916709551257390
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#endif

#define KENGINE_MATH_1(X)                                                                                     \
  X(exp) X(exp2) X(exp10) X(expm1) X(log) X(log2) X(log10) X(log1p) X(logb) X(sin) X(cos) X(tan) X(asin)      \
  X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(erfinv) X(erfcinv)      \
  X(erfcx) X(sqrt) X(rsqrt) X(cbrt) X(rcbrt) X(tgamma) X(lgamma) X(floor) X(ceil) X(trunc) X(rint)            \
  X(nearbyint) X(round) X(fabs) X(sinpi) X(cospi) X(ncdf) X(ncdfinv) X(j0) X(j1) X(y0) X(y1)
#define KENGINE_MATH_2(X) X(pow) X(fmod) X(remainder) X(atan2) X(hypot) X(copysign) X(fdim) X(nextafter) X(fmax) X(fmin)
// Names that the C library knows too, and with them namespace std.
#define KENGINE_STD_1(X)                                                                                      \
  X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(logb) X(sin) X(cos) X(tan) X(asin) X(acos)       \
  X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc) X(sqrt) X(cbrt) X(tgamma)         \
  X(lgamma) X(floor) X(ceil) X(trunc) X(rint) X(nearbyint) X(round) X(fabs)

// The device library's own names; nearbyint is its rint's sibling, the hyperbolic ones have no i0/i1 spelling.
#define KENGINE_OCML_1(n)                                 \
  extern "C" __device__ float __ocml_##n##_f32(float);    \
  extern "C" __device__ double __ocml_##n##_f64(double);
#define KENGINE_OCML_2(n)                                        \
  extern "C" __device__ float __ocml_##n##_f32(float, float);    \
  extern "C" __device__ double __ocml_##n##_f64(double, double);
KENGINE_MATH_1(KENGINE_OCML_1)
KENGINE_OCML_1(i0) KENGINE_OCML_1(i1)
KENGINE_MATH_2(KENGINE_OCML_2)
extern "C" {
__device__ float __ocml_native_exp_f32(float);
__device__ float __ocml_native_exp10_f32(float);
__device__ float __ocml_native_log_f32(float);
__device__ float __ocml_native_log2_f32(float);
__device__ float __ocml_native_log10_f32(float);
__device__ float __ocml_native_sin_f32(float);
__device__ float __ocml_native_cos_f32(float);
__device__ float __ocml_pown_f32(float, int);
__device__ double __ocml_pown_f64(double, int);
__device__ float __ocml_ldexp_f32(float, int);
__device__ double __ocml_ldexp_f64(double, int);
__device__ int __ocml_ilogb_f32(float);
__device__ int __ocml_ilogb_f64(double);
__device__ float __ocml_len3_f32(float, float, float);
__device__ float __ocml_rlen3_f32(float, float, float);
__device__ float __ocml_rhypot_f32(float, float);
__device__ float __ocml_frexp_f32(float, __attribute__((address_space(5))) int*);
__device__ float __ocml_modf_f32(float, __attribute__((address_space(5))) float*);
__device__ float __ocml_sincos_f32(float, __attribute__((address_space(5))) float*);
__device__ double __ocml_sincos_f64(double, __attribute__((address_space(5))) double*);
__device__ float __ocml_sincospi_f32(float, __attribute__((address_space(5))) float*);
}

#define KENGINE_DEFINE_1(n)                                           \
  KENGINE_D float n##f(float x) { return __ocml_##n##_f32(x); }       \
  KENGINE_D float n(float x) { return __ocml_##n##_f32(x); }          \
  KENGINE_D double n(double x) { return __ocml_##n##_f64(x); }        \
  template <class I, class = typename kengine::If<__is_integral(I)>::type> KENGINE_D double n(I x) { return __ocml_##n##_f64((double)x); }
#define KENGINE_DEFINE_2(n)                                                       \
  KENGINE_D float n##f(float x, float y) { return __ocml_##n##_f32(x, y); }       \
  KENGINE_D float n(float x, float y) { return __ocml_##n##_f32(x, y); }          \
  KENGINE_D double n(double x, double y) { return __ocml_##n##_f64(x, y); }       \
  template <class A, class B, class = typename kengine::If<kengine::is_arithmetic<A> && kengine::is_arithmetic<B> && !__is_same(A, B)>::type> \
  KENGINE_D double n(A x, B y) { return __ocml_##n##_f64((double)x, (double)y); }
KENGINE_MATH_1(KENGINE_DEFINE_1)
KENGINE_MATH_2(KENGINE_DEFINE_2)
KENGINE_D float pow(float x, int n) { return __ocml_pown_f32(x, n); }
KENGINE_D double pow(double x, int n) { return __ocml_pown_f64(x, n); }
KENGINE_D float powif(float x, int n) { return __ocml_pown_f32(x, n); }
KENGINE_D float cyl_bessel_i0f(float x) { return __ocml_i0_f32(x); }
KENGINE_D float cyl_bessel_i1f(float x) { return __ocml_i1_f32(x); }
KENGINE_D float normcdff(float x) { return __ocml_ncdf_f32(x); }
KENGINE_D double normcdf(double x) { return __ocml_ncdf_f64(x); }
KENGINE_D float normcdfinvf(float x) { return __ocml_ncdfinv_f32(x); }
KENGINE_D float ldexpf(float x, int e) { return __ocml_ldexp_f32(x, e); }
KENGINE_D float ldexp(float x, int e) { return __ocml_ldexp_f32(x, e); }
KENGINE_D double ldexp(double x, int e) { return __ocml_ldexp_f64(x, e); }
KENGINE_D float scalbnf(float x, int e) { return __ocml_ldexp_f32(x, e); }
KENGINE_D int ilogbf(float x) { return __ocml_ilogb_f32(x); }
KENGINE_D int ilogb(double x) { return __ocml_ilogb_f64(x); }
KENGINE_D float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KENGINE_D float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KENGINE_D double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
KENGINE_D float norm3df(float a, float b, float c) { return __ocml_len3_f32(a, b, c); }
KENGINE_D float rnorm3df(float a, float b, float c) { return __ocml_rlen3_f32(a, b, c); }
KENGINE_D float rhypotf(float a, float b) { return __ocml_rhypot_f32(a, b); }
KENGINE_D float fdividef(float a, float b) { return a / b; }
KENGINE_D float saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }
KENGINE_D float nanf(const char*) { return __builtin_nanf(""); }
KENGINE_D double nan(const char*) { return __builtin_nan(""); }
#define KENGINE_PRIVATE(T) __attribute__((address_space(5))) T*
KENGINE_D float frexpf(float x, int* e) { int v; float r = __ocml_frexp_f32(x, (KENGINE_PRIVATE(int))&v); *e = v; return r; }
KENGINE_D float modff(float x, float* i) { float v; float r = __ocml_modf_f32(x, (KENGINE_PRIVATE(float))&v); *i = v; return r; }
KENGINE_D void sincosf(float x, float* s, float* c) { float v; *s = __ocml_sincos_f32(x, (KENGINE_PRIVATE(float))&v); *c = v; }
KENGINE_D void sincos(double x, double* s, double* c) { double v; *s = __ocml_sincos_f64(x, (KENGINE_PRIVATE(double))&v); *c = v; }
KENGINE_D void sincospif(float x, float* s, float* c) { float v; *s = __ocml_sincospi_f32(x, (KENGINE_PRIVATE(float))&v); *c = v; }
KENGINE_D int abs(int x) { return x < 0 ? -x : x; }
KENGINE_D long labs(long x) { return x < 0 ? -x : x; }
KENGINE_D long abs(long x) { return x < 0 ? -x : x; }
KENGINE_D long long llabs(long long x) { return x < 0 ? -x : x; }
KENGINE_D long long abs(long long x) { return x < 0 ? -x : x; }
KENGINE_D float abs(float x) { return __builtin_fabsf(x); }
KENGINE_D double abs(double x) { return __builtin_fabs(x); }
KENGINE_D long lrintf(float x) { return (long)__ocml_rint_f32(x); }
KENGINE_D long lroundf(float x) { return (long)__ocml_round_f32(x); }
KENGINE_D long long llrintf(float x) { return (long long)__ocml_rint_f32(x); }
KENGINE_D long long llroundf(float x) { return (long long)__ocml_round_f32(x); }
#define KENGINE_CLASSIFY(T)                                                       \
  KENGINE_D bool isnan(T x) { return __builtin_isnan(x); }                        \
  KENGINE_D bool isinf(T x) { return __builtin_isinf(x); }                        \
  KENGINE_D bool isfinite(T x) { return __builtin_isfinite(x); }                  \
  KENGINE_D bool isnormal(T x) { return __builtin_isnormal(x); }                  \
  KENGINE_D bool signbit(T x) { return __builtin_signbit(x); }
#undef isnan
#undef isinf
#undef isfinite
#undef isnormal
#undef signbit
KENGINE_CLASSIFY(float)
KENGINE_CLASSIFY(double)

#define KENGINE_ORDER(T)                                       \
  KENGINE_HD T max(T a, T b) { return a < b ? b : a; }         \
  KENGINE_HD T min(T a, T b) { return b < a ? b : a; }
KENGINE_ORDER(int) KENGINE_ORDER(unsigned) KENGINE_ORDER(long) KENGINE_ORDER(unsigned long)
KENGINE_ORDER(long long) KENGINE_ORDER(unsigned long long)
KENGINE_D float max(float a, float b) { return __builtin_fmaxf(a, b); }
KENGINE_D float min(float a, float b) { return __builtin_fminf(a, b); }
KENGINE_D double max(double a, double b) { return __builtin_fmax(a, b); }
KENGINE_D double min(double a, double b) { return __builtin_fmin(a, b); }
template <class A, class B, class = typename kengine::If<kengine::is_arithmetic<A> && kengine::is_arithmetic<B> && !__is_same(A, B)>::type>
KENGINE_D kengine::Common<A, B> max(A a, B b) { return max((kengine::Common<A, B>)a, (kengine::Common<A, B>)b); }
template <class A, class B, class = typename kengine::If<kengine::is_arithmetic<A> && kengine::is_arithmetic<B> && !__is_same(A, B)>::type>
KENGINE_D kengine::Common<A, B> min(A a, B b) { return min((kengine::Common<A, B>)a, (kengine::Common<A, B>)b); }

// The fast variants: hardware instructions, no care for the ends of the range.
KENGINE_D float __expf(float x) { return __ocml_native_exp_f32(x); }
KENGINE_D float __exp10f(float x) { return __ocml_native_exp10_f32(x); }
KENGINE_D float __logf(float x) { return __ocml_native_log_f32(x); }
KENGINE_D float __log2f(float x) { return __ocml_native_log2_f32(x); }
KENGINE_D float __log10f(float x) { return __ocml_native_log10_f32(x); }
KENGINE_D float __powf(float x, float y) { return __ocml_pow_f32(x, y); }
KENGINE_D float __sinf(float x) { return __ocml_native_sin_f32(x); }
KENGINE_D float __cosf(float x) { return __ocml_native_cos_f32(x); }
KENGINE_D float __tanf(float x) { return __sinf(x) / __cosf(x); }
KENGINE_D void __sincosf(float x, float* s, float* c) { *s = __sinf(x); *c = __cosf(x); }
KENGINE_D float __fdividef(float a, float b) { return a / b; }
KENGINE_D float __saturatef(float x) { return saturatef(x); }
KENGINE_D float __frcp_rn(float x) { return 1.0f / x; }
KENGINE_D float __fsqrt_rn(float x) { return __ocml_sqrt_f32(x); }
KENGINE_D float __frsqrt_rn(float x) { return __builtin_amdgcn_rsqf(x); }
KENGINE_D float __fadd_rn(float a, float b) { return a + b; }
KENGINE_D float __fsub_rn(float a, float b) { return a - b; }
KENGINE_D float __fmul_rn(float a, float b) { return a * b; }
KENGINE_D float __fdiv_rn(float a, float b) { return a / b; }
KENGINE_D float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
KENGINE_D double __dadd_rn(double a, double b) { return a + b; }
KENGINE_D double __dsub_rn(double a, double b) { return a - b; }
KENGINE_D double __dmul_rn(double a, double b) { return a * b; }
KENGINE_D double __ddiv_rn(double a, double b) { return a / b; }
KENGINE_D double __dsqrt_rn(double x) { return __ocml_sqrt_f64(x); }
KENGINE_D double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }

// The same functions in namespace std, for device code that spells them so.
namespace std {
#define KENGINE_USING(n) using ::n;
KENGINE_STD_1(KENGINE_USING)
KENGINE_MATH_2(KENGINE_USING)
KENGINE_USING(abs) KENGINE_USING(fma) KENGINE_USING(isnan) KENGINE_USING(isinf) KENGINE_USING(isfinite)
KENGINE_USING(isnormal) KENGINE_USING(signbit) KENGINE_USING(ldexp)
}  // namespace std
