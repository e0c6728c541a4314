// Mathematical functions in the global namespace, for float and double, and the fast single-precision intrinsics.
// The intrinsics are computed at full float precision: an emulator has no reason to be less exact than the device.
#pragma once

// The C library declares some of these names itself: the program's use is turned to ours.
#define rsqrtf simt_rsqrtf
#define rsqrt simt_rsqrt
#define rcbrtf simt_rcbrtf
#define rcbrt simt_rcbrt
#define sinpif simt_sinpif
#define sinpi simt_sinpi
#define cospif simt_cospif
#define cospi simt_cospi
#define tanpif simt_tanpif
#define exp10f simt_exp10f
#define exp10 simt_exp10
#define __expf simt_fast_expf
#define __exp10f simt_fast_exp10f
#define __exp2f simt_fast_exp2f
#define __logf simt_fast_logf
#define __log2f simt_fast_log2f
#define __log10f simt_fast_log10f
#define __sinf simt_fast_sinf
#define __cosf simt_fast_cosf
#define __tanf simt_fast_tanf
#define __tanhf simt_fast_tanhf
#define __powf simt_fast_powf
#define __sincosf simt_fast_sincosf

// CUDA declares these for float too; without them abs(float) would quietly be the integer function.
using std::abs; using std::acos; using std::acosh; using std::asin; using std::asinh; using std::atan; using std::atan2; using std::atanh;
using std::cbrt; using std::ceil; using std::copysign; using std::cos; using std::cosh; using std::erf; using std::erfc; using std::exp;
using std::exp2; using std::expm1; using std::fabs; using std::fdim; using std::floor; using std::fma; using std::fmax; using std::fmin;
using std::fmod; using std::frexp; using std::hypot; using std::ilogb; using std::isfinite; using std::isinf; using std::isnan;
using std::isnormal; using std::ldexp; using std::lgamma; using std::llrint; using std::llround; using std::log; using std::log10;
using std::log1p; using std::log2; using std::logb; using std::lrint; using std::lround; using std::modf; using std::nearbyint;
using std::nextafter; using std::pow; using std::remainder; using std::remquo; using std::rint; using std::round; using std::scalbn;
using std::signbit; using std::sin; using std::sinh; using std::sqrt; using std::tan; using std::tanh; using std::tgamma; using std::trunc;

#define SIMT_F1(name, expression) SIMT_INLINE float name(float x) { return expression; }
#define SIMT_D1(name, expression) SIMT_INLINE double name(double x) { return expression; }
#define SIMT_F2(name, expression) SIMT_INLINE float name(float x, float y) { return expression; }
#define SIMT_D2(name, expression) SIMT_INLINE double name(double x, double y) { return expression; }
#define SIMT_BOTH1(fname, dname, fe, de) SIMT_F1(fname, fe) SIMT_D1(dname, de) SIMT_F1(dname, fe)

namespace simt {
SIMT_INLINE double sin_pi(double x) {
  double r = std::fmod(x, 2.0);
  if (r == 0 || r == 1 || r == -1) return std::copysign(0.0, x);
  return std::sin(M_PI * r);
}
SIMT_INLINE double cos_pi(double x) {
  double r = std::fabs(std::fmod(x, 2.0));
  if (r == 0.5 || r == 1.5) return 0.0;
  return std::cos(M_PI * r);
}
}  // namespace simt
SIMT_BOTH1(rsqrtf, rsqrt, 1.0f / sqrtf(x), 1.0 / ::sqrt(x))
SIMT_BOTH1(rcbrtf, rcbrt, 1.0f / cbrtf(x), 1.0 / ::cbrt(x))
SIMT_BOTH1(sinpif, sinpi, static_cast<float>(simt::sin_pi(x)), simt::sin_pi(x))
SIMT_BOTH1(cospif, cospi, static_cast<float>(simt::cos_pi(x)), simt::cos_pi(x))
SIMT_F1(tanpif, static_cast<float>(simt::sin_pi(x) / simt::cos_pi(x)))
SIMT_BOTH1(exp10f, exp10, powf(10.0f, x), ::pow(10.0, x))
SIMT_BOTH1(normcdff, normcdf, 0.5f * erfcf(-x * 0.70710678118654752f), 0.5 * ::erfc(-x * 0.70710678118654752))
SIMT_BOTH1(erfcxf, erfcx, static_cast<float>(::exp(static_cast<double>(x) * x) * ::erfc(static_cast<double>(x))), ::exp(x * x) * ::erfc(x))
namespace simt {
// Inverse of the error function by Newton's method on erf, from the approximation of Winitzki (2008).
SIMT_RAW double inverse_erf(double y) {
  if (y <= -1 || y >= 1) return y == 1 ? HUGE_VAL : y == -1 ? -HUGE_VAL : NAN;
  double a = 0.147, l = std::log1p(-y * y), t = 2 / (M_PI * a) + l / 2;
  double x = std::copysign(std::sqrt(std::sqrt(t * t - l / a) - t), y);
  for (int i = 0; i < 4; ++i) x -= (std::erf(x) - y) / (2 / std::sqrt(M_PI) * std::exp(-x * x));
  return x;
}
}  // namespace simt
SIMT_BOTH1(erfinvf, erfinv, static_cast<float>(simt::inverse_erf(x)), simt::inverse_erf(x))
SIMT_BOTH1(erfcinvf, erfcinv, static_cast<float>(simt::inverse_erf(1.0 - x)), simt::inverse_erf(1.0 - x))
SIMT_BOTH1(normcdfinvf, normcdfinv, static_cast<float>(M_SQRT2 * simt::inverse_erf(2.0 * x - 1)), M_SQRT2 * simt::inverse_erf(2.0 * x - 1))
SIMT_INLINE void sincospif(float x, float* s, float* c) { *s = sinpif(x); *c = cospif(x); }
SIMT_INLINE void sincospi(double x, double* s, double* c) { *s = sinpi(x); *c = cospi(x); }
SIMT_INLINE void sincos(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
SIMT_INLINE float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
SIMT_INLINE float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
SIMT_INLINE float norm4df(float a, float b, float c, float d) { return sqrtf(a * a + b * b + c * c + d * d); }
SIMT_INLINE float rnorm3df(float a, float b, float c) { return 1.0f / norm3df(a, b, c); }
SIMT_INLINE float fdividef(float a, float b) { return a / b; }

SIMT_F1(__expf, expf(x)) SIMT_F1(__exp10f, powf(10.0f, x)) SIMT_F1(__exp2f, exp2f(x)) SIMT_F1(__logf, logf(x)) SIMT_F1(__log2f, log2f(x))
SIMT_F1(__log10f, log10f(x)) SIMT_F1(__sinf, sinf(x)) SIMT_F1(__cosf, cosf(x)) SIMT_F1(__tanf, tanf(x)) SIMT_F1(__tanhf, tanhf(x))
SIMT_F2(__powf, powf(x, y)) SIMT_F2(__fdividef, x / y) SIMT_F2(__fdiv_rn, x / y) SIMT_F2(__fadd_rn, x + y) SIMT_F2(__fsub_rn, x - y) SIMT_F2(__fmul_rn, x * y)
SIMT_D2(__dadd_rn, x + y) SIMT_D2(__dsub_rn, x - y) SIMT_D2(__dmul_rn, x * y) SIMT_D2(__ddiv_rn, x / y)
SIMT_F1(__frcp_rn, 1.0f / x) SIMT_F1(__fsqrt_rn, sqrtf(x)) SIMT_F1(__frsqrt_rn, 1.0f / sqrtf(x)) SIMT_D1(__drcp_rn, 1.0 / x) SIMT_D1(__dsqrt_rn, ::sqrt(x))
SIMT_F1(__saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
SIMT_INLINE void __sincosf(float x, float* s, float* c) { *s = sinf(x); *c = cosf(x); }
SIMT_INLINE float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INLINE float __fmaf_ieee_rn(float a, float b, float c) { return fmaf(a, b, c); }
SIMT_INLINE double __fma_rn(double a, double b, double c) { return ::fma(a, b, c); }

namespace simt {
// Directed rounding: the exact result lies between the nearest float and one of its neighbours; the remainder, exact
// in double for these operations, says on which side.
SIMT_INLINE float toward(double exact, int direction) {
  float f = static_cast<float>(exact);
  if (direction == 0) direction = exact > 0 ? -1 : 1;
  if (direction > 0 && static_cast<double>(f) < exact) return std::nextafter(f, HUGE_VALF);
  if (direction < 0 && static_cast<double>(f) > exact) return std::nextafter(f, -HUGE_VALF);
  return f;
}
}  // namespace simt
#define SIMT_DIRECTED(suffix, d)                                                                                                 \
  SIMT_F2(__fadd_##suffix, simt::toward(static_cast<double>(x) + y, d)) SIMT_F2(__fsub_##suffix, simt::toward(static_cast<double>(x) - y, d)) \
  SIMT_F2(__fmul_##suffix, simt::toward(static_cast<double>(x) * y, d)) SIMT_F2(__fdiv_##suffix, simt::toward(static_cast<double>(x) / y, d)) \
  SIMT_F1(__fsqrt_##suffix, simt::toward(::sqrt(static_cast<double>(x)), d)) SIMT_F1(__frcp_##suffix, simt::toward(1.0 / x, d))    \
  SIMT_INLINE float __fmaf_##suffix(float a, float b, float c) { return simt::toward(static_cast<double>(a) * b + c, d); }
SIMT_DIRECTED(rz, 0)
SIMT_DIRECTED(ru, 1)
SIMT_DIRECTED(rd, -1)

#define SIMT_MINMAX(T) \
  SIMT_INLINE T max(T a, T b) { return a < b ? b : a; } \
  SIMT_INLINE T min(T a, T b) { return b < a ? b : a; }
SIMT_MINMAX(int) SIMT_MINMAX(unsigned) SIMT_MINMAX(long) SIMT_MINMAX(unsigned long) SIMT_MINMAX(long long) SIMT_MINMAX(unsigned long long)
SIMT_INLINE float max(float a, float b) { return fmaxf(a, b); }
SIMT_INLINE float min(float a, float b) { return fminf(a, b); }
SIMT_INLINE double max(double a, double b) { return ::fmax(a, b); }
SIMT_INLINE double min(double a, double b) { return ::fmin(a, b); }
template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value && !std::is_same<A, B>::value>>
SIMT_INLINE std::common_type_t<A, B> max(A a, B b) {
  using C = std::common_type_t<A, B>;
  return max(static_cast<C>(a), static_cast<C>(b));
}
template <class A, class B, class = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value && !std::is_same<A, B>::value>>
SIMT_INLINE std::common_type_t<A, B> min(A a, B b) {
  using C = std::common_type_t<A, B>;
  return min(static_cast<C>(a), static_cast<C>(b));
}
SIMT_INLINE unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
SIMT_INLINE unsigned umin(unsigned a, unsigned b) { return b < a ? b : a; }
SIMT_INLINE float fmaximum(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : fmaxf(a, b); }

#define CUDART_INF_F (__builtin_inff())
#define CUDART_NAN_F (__builtin_nanf(""))
#define CUDART_INF (__builtin_inf())
#define CUDART_NAN (__builtin_nan(""))
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_2PI_F 6.283185307f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_MAX_NORMAL_F 3.402823466e38f
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_ONE_F 1.0f
#define CUDART_ZERO_F 0.0f
