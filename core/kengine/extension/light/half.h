// c10::Half and c10::BFloat16: two bytes, arithmetic in float, conversions from and to the device's own types.
#pragma once
#ifndef __CUDACC_RTC__
#include "macros.h"
#endif
#if defined(__CUDACC__) && !defined(SIMT_LANES) && !defined(LIGHT_WITHOUT_HALF)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace light {
template <class To, class From>
C10_HOST_DEVICE inline To bits(From v) {
  static_assert(sizeof(To) == sizeof(From), "");
  To r;
  memcpy(&r, &v, sizeof r);
  return r;
}

#if defined(SIMT_LANES)
inline uint16_t half_bits(float f) { return ::simt::half_bits(f); }
inline float half_value(uint16_t h) { return ::simt::half_value(h); }
#elif defined(__CUDACC__) && !defined(LIGHT_WITHOUT_HALF)
C10_HOST_DEVICE inline uint16_t half_bits(float f) { return bits<uint16_t>(__float2half(f)); }
C10_HOST_DEVICE inline float half_value(uint16_t h) { return __half2float(bits<__half>(h)); }
#else
// Rounds to nearest even. Subnormal results are formed by adding the float whose last bit is the half's.
C10_HOST_DEVICE inline uint16_t half_bits(float f) {
  uint32_t u = bits<uint32_t>(f), sign = u >> 16 & 0x8000u;
  u &= 0x7fffffffu;
  if (u > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (u >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
  if (u < 0x38800000u) return static_cast<uint16_t>(sign | (bits<uint32_t>(bits<float>(u) + 0.5f) - 0x3f000000u));
  return static_cast<uint16_t>(sign | ((u - 0x38000000u + 0xfffu + (u >> 13 & 1u)) >> 13));
}
C10_HOST_DEVICE inline float half_value(uint16_t h) {
  uint32_t e = h >> 10 & 31u, m = h & 1023u, sign = static_cast<uint32_t>(h & 0x8000u) << 16;
  if (e == 31) return bits<float>(sign | 0x7f800000u | m << 13);
  if (e) return bits<float>(sign | (e + 112u) << 23 | m << 13);
  float v = static_cast<float>(m) * 5.9604644775390625e-8f;
  return sign ? -v : v;
}
#endif
C10_HOST_DEVICE inline uint16_t bfloat_bits(float f) {
  uint32_t u = bits<uint32_t>(f);
  if ((u & 0x7fffffffu) > 0x7f800000u) return 0x7fc0;
  return static_cast<uint16_t>((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}
C10_HOST_DEVICE inline float bfloat_value(uint16_t b) { return bits<float>(static_cast<uint32_t>(b) << 16); }
}  // namespace light

#if (defined(__CUDACC__) && !defined(LIGHT_WITHOUT_HALF)) || defined(SIMT_LANES)
#define LIGHT_NATIVE(Type, Native)                                                               \
  C10_HOST_DEVICE Type(const Native& v) : x(light::bits<unsigned short>(v)) {}                   \
  C10_HOST_DEVICE operator Native() const { return light::bits<Native>(x); }
#else
#define LIGHT_NATIVE(Type, Native)
#endif
#define LIGHT_FLOAT_OPERATOR(Type, op)                                                                                \
  C10_HOST_DEVICE inline Type operator op(const Type& a, const Type& b) { return Type(static_cast<float>(a) op static_cast<float>(b)); } \
  C10_HOST_DEVICE inline float operator op(Type a, float b) { return static_cast<float>(a) op b; }                    \
  C10_HOST_DEVICE inline float operator op(float a, Type b) { return a op static_cast<float>(b); }                    \
  C10_HOST_DEVICE inline double operator op(Type a, double b) { return static_cast<double>(static_cast<float>(a)) op b; } \
  C10_HOST_DEVICE inline double operator op(double a, Type b) { return a op static_cast<double>(static_cast<float>(b)); } \
  C10_HOST_DEVICE inline Type operator op(Type a, int b) { return a op Type(static_cast<float>(b)); }                 \
  C10_HOST_DEVICE inline Type operator op(int a, Type b) { return Type(static_cast<float>(a)) op b; }                 \
  C10_HOST_DEVICE inline Type operator op(Type a, int64_t b) { return a op Type(static_cast<float>(b)); }             \
  C10_HOST_DEVICE inline Type operator op(int64_t a, Type b) { return Type(static_cast<float>(a)) op b; }             \
  C10_HOST_DEVICE inline Type& operator op##=(Type& a, const Type& b) { return a = a op b; }                          \
  C10_HOST_DEVICE inline float& operator op##=(float& a, const Type& b) { return a = a op static_cast<float>(b); }
#define LIGHT_FLOAT_COMPARE(Type, op)                                                                                 \
  C10_HOST_DEVICE inline bool operator op(const Type& a, const Type& b) { return static_cast<float>(a) op static_cast<float>(b); } \
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>                                          \
  C10_HOST_DEVICE inline bool operator op(const Type& a, A b) { return static_cast<float>(a) op b; }                  \
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>                                          \
  C10_HOST_DEVICE inline bool operator op(A a, const Type& b) { return a op static_cast<float>(b); }
#define LIGHT_FLOAT(Type, Native, encode, decode)                                                \
  struct alignas(2) Type {                                                                       \
    unsigned short x;                                                                            \
    struct from_bits_t {};                                                                       \
    static constexpr C10_HOST_DEVICE from_bits_t from_bits() { return from_bits_t(); }           \
    Type() = default;                                                                            \
    constexpr C10_HOST_DEVICE Type(unsigned short bits, from_bits_t) : x(bits) {}                \
    C10_HOST_DEVICE Type(float v) : x(encode(v)) {}                                              \
    C10_HOST_DEVICE operator float() const { return decode(x); }                                 \
    LIGHT_NATIVE(Type, Native)                                                                   \
  };                                                                                             \
  C10_HOST_DEVICE inline Type operator-(const Type& a) { return Type(static_cast<unsigned short>(a.x ^ 0x8000), Type::from_bits()); } \
  LIGHT_FLOAT_OPERATOR(Type, +) LIGHT_FLOAT_OPERATOR(Type, -) LIGHT_FLOAT_OPERATOR(Type, *) LIGHT_FLOAT_OPERATOR(Type, /) \
  LIGHT_FLOAT_COMPARE(Type, ==) LIGHT_FLOAT_COMPARE(Type, !=) LIGHT_FLOAT_COMPARE(Type, <) LIGHT_FLOAT_COMPARE(Type, >) \
  LIGHT_FLOAT_COMPARE(Type, <=) LIGHT_FLOAT_COMPARE(Type, >=)

namespace c10 {
LIGHT_FLOAT(Half, __half, light::half_bits, light::half_value)
LIGHT_FLOAT(BFloat16, __nv_bfloat16, light::bfloat_bits, light::bfloat_value)
struct Float8_e4m3fn { uint8_t x; };
struct Float8_e5m2 { uint8_t x; };
#ifndef __CUDACC_RTC__
inline std::ostream& operator<<(std::ostream& out, const Half& v) { return out << static_cast<float>(v); }
inline std::ostream& operator<<(std::ostream& out, const BFloat16& v) { return out << static_cast<float>(v); }
#endif
}  // namespace c10

#ifndef __CUDACC_RTC__
namespace std {
template <>
class numeric_limits<c10::Half> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = 11, radix = 2;
  using B = c10::Half;
  static constexpr C10_HOST_DEVICE B min() { return B(0x0400, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B lowest() { return B(0xfbff, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B max() { return B(0x7bff, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B epsilon() { return B(0x1400, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B infinity() { return B(0x7c00, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B quiet_NaN() { return B(0x7e00, B::from_bits()); }
};
template <>
class numeric_limits<c10::BFloat16> {
 public:
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = 8, radix = 2;
  using B = c10::BFloat16;
  static constexpr C10_HOST_DEVICE B min() { return B(0x0080, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B lowest() { return B(0xff7f, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B max() { return B(0x7f7f, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B epsilon() { return B(0x3c00, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B infinity() { return B(0x7f80, B::from_bits()); }
  static constexpr C10_HOST_DEVICE B quiet_NaN() { return B(0x7fc0, B::from_bits()); }
};
}  // namespace std
#endif
