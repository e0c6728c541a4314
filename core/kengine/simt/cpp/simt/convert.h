// Conversions between numbers with a named rounding, and reinterpretations of bits. Device conversions to integers
// saturate and turn NaN into 0.
#pragma once

namespace simt {
template <class I, class F>
SIMT_INLINE I saturate(F x) {
  if (x != x) return 0;
  if (x <= static_cast<F>(std::numeric_limits<I>::min())) return std::numeric_limits<I>::min();
  if (x >= static_cast<F>(std::numeric_limits<I>::max())) return std::numeric_limits<I>::max();
  return static_cast<I>(x);
}
template <class To, class From>
SIMT_INLINE To bits(From v) {
  static_assert(sizeof(To) == sizeof(From), "");
  To r;
  __builtin_memcpy(&r, &v, sizeof r);
  return r;
}
}  // namespace simt

#define SIMT_TO_INTEGER(from, F, to, I)                                                           \
  SIMT_INLINE I __##from##2##to##_rn(F x) { return simt::saturate<I>(std::nearbyint(x)); }        \
  SIMT_INLINE I __##from##2##to##_rz(F x) { return simt::saturate<I>(std::trunc(x)); }            \
  SIMT_INLINE I __##from##2##to##_rd(F x) { return simt::saturate<I>(std::floor(x)); }            \
  SIMT_INLINE I __##from##2##to##_ru(F x) { return simt::saturate<I>(std::ceil(x)); }
SIMT_TO_INTEGER(float, float, int, int)
SIMT_TO_INTEGER(float, float, uint, unsigned)
SIMT_TO_INTEGER(float, float, ll, long long)
SIMT_TO_INTEGER(float, float, ull, unsigned long long)
SIMT_TO_INTEGER(double, double, int, int)
SIMT_TO_INTEGER(double, double, uint, unsigned)
SIMT_TO_INTEGER(double, double, ll, long long)
SIMT_TO_INTEGER(double, double, ull, unsigned long long)
#define SIMT_TO_FLOAT(from, I)                                                                    \
  SIMT_INLINE float __##from##2float_rn(I x) { return static_cast<float>(x); }                    \
  SIMT_INLINE float __##from##2float_rz(I x) { return simt::toward(static_cast<double>(x), 0); }  \
  SIMT_INLINE float __##from##2float_ru(I x) { return simt::toward(static_cast<double>(x), 1); }  \
  SIMT_INLINE float __##from##2float_rd(I x) { return simt::toward(static_cast<double>(x), -1); } \
  SIMT_INLINE double __##from##2double_rn(I x) { return static_cast<double>(x); }
SIMT_TO_FLOAT(int, int)
SIMT_TO_FLOAT(uint, unsigned)
SIMT_TO_FLOAT(ll, long long)
SIMT_TO_FLOAT(ull, unsigned long long)
SIMT_INLINE float __double2float_rn(double x) { return static_cast<float>(x); }
SIMT_INLINE float __double2float_rz(double x) { return simt::toward(x, 0); }
SIMT_INLINE float __double2float_ru(double x) { return simt::toward(x, 1); }
SIMT_INLINE float __double2float_rd(double x) { return simt::toward(x, -1); }

SIMT_INLINE int __float_as_int(float x) { return simt::bits<int>(x); }
SIMT_INLINE unsigned __float_as_uint(float x) { return simt::bits<unsigned>(x); }
SIMT_INLINE float __int_as_float(int x) { return simt::bits<float>(x); }
SIMT_INLINE float __uint_as_float(unsigned x) { return simt::bits<float>(x); }
SIMT_INLINE long long __double_as_longlong(double x) { return simt::bits<long long>(x); }
SIMT_INLINE double __longlong_as_double(long long x) { return simt::bits<double>(x); }
SIMT_INLINE int __double2hiint(double x) { return static_cast<int>(simt::bits<long long>(x) >> 32); }
SIMT_INLINE int __double2loint(double x) { return static_cast<int>(simt::bits<long long>(x)); }
SIMT_INLINE double __hiloint2double(int hi, int lo) { return simt::bits<double>(static_cast<long long>(hi) << 32 | static_cast<unsigned>(lo)); }
