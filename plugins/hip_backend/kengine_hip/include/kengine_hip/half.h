// half and half2.
#pragma once

KENGINE_SMALL_FLOAT(__half, __half2, __half_raw, _Float16)
KENGINE_SMALL_MATH(__half, __half2)
KENGINE_SMALL_NAMES(__half, __half2, half)
typedef __half half;
typedef __half2 half2;
KENGINE_HD __half __short_as_half(short v) { return __half::of(__builtin_bit_cast(_Float16, v)); }
KENGINE_HD __half __ushort_as_half(unsigned short v) { return __half::of(__builtin_bit_cast(_Float16, v)); }
KENGINE_HD __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
KENGINE_HD __half2 __float2half2_rn(float v) { return __half2(__half(v), __half(v)); }
KENGINE_HD __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
KENGINE_HD float2 __half22float2(__half2 p) { return make_float2(p.x, p.y); }
KENGINE_HD __half2 __half2half2(__half v) { return __half2(v, v); }
KENGINE_HD __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
KENGINE_HD __half __low2half(__half2 p) { return p.x; }
KENGINE_HD __half __high2half(__half2 p) { return p.y; }
KENGINE_HD __half2 __low2half2(__half2 p) { return __half2(p.x, p.x); }
KENGINE_HD __half2 __high2half2(__half2 p) { return __half2(p.y, p.y); }
KENGINE_HD __half2 make_half2(__half a, __half b) { return __half2(a, b); }
#define HIPRT_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define HIPRT_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define HIPRT_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
#define HIPRT_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define HIPRT_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
