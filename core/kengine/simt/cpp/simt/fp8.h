// 8-bit floating types. OCP e4m3 (no infinity) and e5m2, and the fnuz variants of gfx940 (one zero, one NaN, bias one
// higher). Conversions round to nearest even and, unless asked otherwise, saturate to the largest finite value.
#pragma once

namespace simt {
struct Fp8Format {
  int exponent, mantissa, bias;
  bool fnuz, infinity;
  double largest;
};
constexpr Fp8Format e4m3{4, 3, 7, false, false, 448}, e5m2{5, 2, 15, false, true, 57344}, e4m3_fnuz{4, 3, 8, true, false, 240}, e5m2_fnuz{5, 2, 16, true, false, 57344};

inline uint8_t fp8_encode(const Fp8Format& f, double v, bool saturating) {
  unsigned sign = std::signbit(v) ? 0x80 : 0;
  unsigned nan = f.fnuz ? 0x80 : 0x7f;
  if (v != v) return static_cast<uint8_t>(nan);
  double a = std::fabs(v);
  int lowest = 1 - f.bias, e = a == 0 ? lowest : std::max(std::ilogb(a), lowest);
  double scaled = std::isinf(a) ? a : std::nearbyint(std::ldexp(a, f.mantissa - e));
  double rounded = std::isinf(a) ? a : std::ldexp(scaled, e - f.mantissa);
  if (rounded > f.largest) {
    if (!saturating) return static_cast<uint8_t>(f.infinity ? sign | 0x7c : f.fnuz ? 0x80 : sign | 0x7f);
    rounded = f.largest;
    e = std::ilogb(rounded);
    scaled = std::ldexp(rounded, f.mantissa - e);
  }
  unsigned code = static_cast<unsigned>((e - lowest) << f.mantissa) + static_cast<unsigned>(scaled);
  if (f.fnuz && code == 0) sign = 0;
  return static_cast<uint8_t>(sign | code);
}
inline float fp8_decode(const Fp8Format& f, uint8_t b) {
  int m = b & ((1 << f.mantissa) - 1), e = b >> f.mantissa & ((1 << f.exponent) - 1);
  if (f.fnuz && b == 0x80) return NAN;
  if (!f.fnuz && !f.infinity && (b & 0x7f) == 0x7f) return NAN;
  if (f.infinity && e == 31) return m ? NAN : (b & 0x80 ? -HUGE_VALF : HUGE_VALF);
  double v = e ? std::ldexp(static_cast<double>(m + (1 << f.mantissa)), e - f.bias - f.mantissa) : std::ldexp(static_cast<double>(m), 1 - f.bias - f.mantissa);
  return static_cast<float>(b & 0x80 ? -v : v);
}
template <const Fp8Format& format>
struct Fp8 {
  unsigned char __x;
  Fp8() = default;
  template <class A, class = std::enable_if_t<std::is_arithmetic<A>::value>>
  explicit Fp8(A v) : __x(fp8_encode(format, static_cast<double>(v), true)) {}
  explicit Fp8(__half v) : __x(fp8_encode(format, static_cast<float>(v), true)) {}
  explicit Fp8(__nv_bfloat16 v) : __x(fp8_encode(format, static_cast<float>(v), true)) {}
  explicit operator float() const { return fp8_decode(format, __x); }
  explicit operator double() const { return fp8_decode(format, __x); }
  explicit operator __half() const { return __half(fp8_decode(format, __x)); }
  explicit operator __nv_bfloat16() const { return __nv_bfloat16(fp8_decode(format, __x)); }
  explicit operator int() const { return static_cast<int>(fp8_decode(format, __x)); }
  explicit operator bool() const { return (__x & 0x7f) != 0; }
};
}  // namespace simt
typedef simt::Fp8<simt::e4m3> __nv_fp8_e4m3;
typedef simt::Fp8<simt::e5m2> __nv_fp8_e5m2;
typedef simt::Fp8<simt::e4m3> __hip_fp8_e4m3;
typedef simt::Fp8<simt::e5m2> __hip_fp8_e5m2;
typedef simt::Fp8<simt::e4m3_fnuz> __hip_fp8_e4m3_fnuz;
typedef simt::Fp8<simt::e5m2_fnuz> __hip_fp8_e5m2_fnuz;
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef unsigned char __hip_fp8_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };
enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };

namespace simt {
SIMT_INLINE const Fp8Format& format_of(__nv_fp8_interpretation_t i) { return i == __NV_E4M3 ? e4m3 : e5m2; }
SIMT_INLINE __half_raw raw_half(float v) { return {half_bits(v)}; }
}  // namespace simt
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float v, __nv_saturation_t s, __nv_fp8_interpretation_t i) { return simt::fp8_encode(simt::format_of(i), v, s == __NV_SATFINITE); }
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double v, __nv_saturation_t s, __nv_fp8_interpretation_t i) { return simt::fp8_encode(simt::format_of(i), v, s == __NV_SATFINITE); }
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t i) { return simt::fp8_encode(simt::format_of(i), simt::half_value(v.x), s == __NV_SATFINITE); }
SIMT_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw v, __nv_saturation_t s, __nv_fp8_interpretation_t i) { return simt::fp8_encode(simt::format_of(i), simt::bfloat_value(v.x), s == __NV_SATFINITE); }
SIMT_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t v, __nv_fp8_interpretation_t i) { return simt::raw_half(simt::fp8_decode(simt::format_of(i), v)); }
SIMT_INLINE __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 v, __nv_saturation_t s, __nv_fp8_interpretation_t i) {
  return static_cast<__nv_fp8x2_storage_t>(__nv_cvt_float_to_fp8(v.x, s, i) | __nv_cvt_float_to_fp8(v.y, s, i) << 8);
}
SIMT_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t v, __nv_fp8_interpretation_t i) {
  return {__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(v), i).x, __nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(v >> 8), i).x};
}
namespace simt {
template <> struct TypeCode<__nv_fp8_e4m3> { static constexpr const char* get() { return "e4m3"; } };
template <> struct TypeCode<__nv_fp8_e5m2> { static constexpr const char* get() { return "e5m2"; } };
}  // namespace simt
template <class Format>
struct simt_fp8x4 {
  unsigned __x;
  simt_fp8x4() = default;
  explicit simt_fp8x4(float4 v) {
    __x = Format(v.x).__x | static_cast<unsigned>(Format(v.y).__x) << 8 | static_cast<unsigned>(Format(v.z).__x) << 16 | static_cast<unsigned>(Format(v.w).__x) << 24;
  }
  explicit operator float4() const {
    Format f[4];
    __builtin_memcpy(f, &__x, 4);
    return make_float4(static_cast<float>(f[0]), static_cast<float>(f[1]), static_cast<float>(f[2]), static_cast<float>(f[3]));
  }
};
typedef simt_fp8x4<__nv_fp8_e4m3> __nv_fp8x4_e4m3;
typedef simt_fp8x4<__nv_fp8_e5m2> __nv_fp8x4_e5m2;
