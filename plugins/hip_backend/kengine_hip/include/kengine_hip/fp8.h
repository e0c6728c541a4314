// 8-bit floating types: OCP e4m3 and e5m2, and the fnuz variants of gfx94x. Conversions by integers, rounding to nearest
// even, saturating: a kernel that converts compiles; chips with instructions for it need fewer than this shows.
#pragma once

namespace kengine {
template <int exponent, int mantissa, int bias, bool fnuz, bool infinity>
struct Fp8 {
  unsigned char __x;
  Fp8() = default;
  KENGINE_MEMBER explicit Fp8(float v) : __x(encode(v)) {}
  KENGINE_MEMBER explicit Fp8(double v) : __x(encode((float)v)) {}
  KENGINE_MEMBER explicit Fp8(int v) : __x(encode((float)v)) {}
  KENGINE_MEMBER explicit Fp8(__half v) : __x(encode((float)v)) {}
  KENGINE_MEMBER explicit Fp8(__hip_bfloat16 v) : __x(encode((float)v)) {}
  KENGINE_MEMBER explicit operator float() const { return decode(__x); }
  KENGINE_MEMBER explicit operator double() const { return decode(__x); }
  KENGINE_MEMBER explicit operator __half() const { return __half(decode(__x)); }
  KENGINE_MEMBER explicit operator __hip_bfloat16() const { return __hip_bfloat16(decode(__x)); }
  KENGINE_MEMBER explicit operator bool() const { return (__x & 0x7f) != 0; }

  // The largest finite code: without the codes that stand for infinity and NaN.
  static constexpr unsigned largest = infinity ? 0x7b : fnuz ? 0x7f : 0x7e;
  static constexpr unsigned not_a_number = fnuz ? 0x80 : 0x7f;

  KENGINE_MEMBER static unsigned char encode(float v) {
    unsigned bits = __builtin_bit_cast(unsigned, v), sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000) return (unsigned char)not_a_number;
    int e = (int)(magnitude >> 23) - 127 + bias;
    unsigned m = (magnitude & 0x7fffff) | 0x800000;
    int drop = 23 - mantissa + (e < 1 ? 1 - e : 0);
    if (drop > 25) return (unsigned char)(fnuz ? 0 : sign);
    unsigned kept = m >> drop, rest = m & ((1u << drop) - 1), tie = 1u << (drop - 1);
    kept += rest > tie || (rest == tie && (kept & 1));
    unsigned code = e < 1 ? kept : ((unsigned)(e - 1) << mantissa) + kept;
    if (magnitude >= 0x7f800000 || code > largest) code = largest;
    return (unsigned char)(code == 0 && fnuz ? 0 : sign | code);
  }
  KENGINE_MEMBER static float decode(unsigned char b) {
    unsigned e = b >> mantissa & ((1u << exponent) - 1), m = b & ((1u << mantissa) - 1);
    if (fnuz ? b == 0x80 : infinity ? e == 31 && m : (b & 0x7f) == 0x7f) return __builtin_nanf("");
    if (infinity && e == 31) return b & 0x80 ? -__builtin_inff() : __builtin_inff();
    float unit = __builtin_bit_cast(float, (unsigned)(127 + (e ? (int)e : 1) - bias - mantissa) << 23);
    float v = (float)(e ? m + (1u << mantissa) : m) * unit;
    return b & 0x80 ? -v : v;
  }
};
}  // namespace kengine
typedef kengine::Fp8<4, 3, 7, false, false> __hip_fp8_e4m3;
typedef kengine::Fp8<5, 2, 15, false, true> __hip_fp8_e5m2;
typedef kengine::Fp8<4, 3, 8, true, false> __hip_fp8_e4m3_fnuz;
typedef kengine::Fp8<5, 2, 16, true, false> __hip_fp8_e5m2_fnuz;
typedef unsigned char __hip_fp8_storage_t;
enum __hip_saturation_t { __HIP_NOSAT, __HIP_SATFINITE };
enum __hip_fp8_interpretation_t { __HIP_E4M3, __HIP_E5M2, __HIP_E4M3_FNUZ, __HIP_E5M2_FNUZ };
KENGINE_HD __hip_fp8_storage_t __hip_cvt_float_to_fp8(float v, __hip_saturation_t, __hip_fp8_interpretation_t i) {
  switch (i) {
    case __HIP_E4M3: return __hip_fp8_e4m3(v).__x;
    case __HIP_E5M2: return __hip_fp8_e5m2(v).__x;
    case __HIP_E4M3_FNUZ: return __hip_fp8_e4m3_fnuz(v).__x;
    default: return __hip_fp8_e5m2_fnuz(v).__x;
  }
}
KENGINE_HD __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t b, __hip_fp8_interpretation_t i) {
  switch (i) {
    case __HIP_E4M3: return __half(__hip_fp8_e4m3::decode(b));
    case __HIP_E5M2: return __half(__hip_fp8_e5m2::decode(b));
    case __HIP_E4M3_FNUZ: return __half(__hip_fp8_e4m3_fnuz::decode(b));
    default: return __half(__hip_fp8_e5m2_fnuz::decode(b));
  }
}
