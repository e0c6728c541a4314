// bfloat16 and its pair, under both of HIP's names.
#pragma once

KENGINE_SMALL_FLOAT(__hip_bfloat16, __hip_bfloat162, __hip_bfloat16_raw, __bf16)
KENGINE_SMALL_MATH(__hip_bfloat16, __hip_bfloat162)
KENGINE_SMALL_NAMES(__hip_bfloat16, __hip_bfloat162, bfloat16)
typedef __hip_bfloat16 hip_bfloat16;
KENGINE_HD __hip_bfloat16 __short_as_bfloat16(short v) { return __hip_bfloat16::of(__builtin_bit_cast(__bf16, v)); }
KENGINE_HD __hip_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __hip_bfloat16::of(__builtin_bit_cast(__bf16, v)); }
KENGINE_HD __hip_bfloat162 __float22bfloat162_rn(float2 v) { return __hip_bfloat162(__hip_bfloat16(v.x), __hip_bfloat16(v.y)); }
KENGINE_HD __hip_bfloat162 __float2bfloat162_rn(float v) { return __hip_bfloat162(__hip_bfloat16(v), __hip_bfloat16(v)); }
KENGINE_HD __hip_bfloat162 __floats2bfloat162_rn(float a, float b) { return __hip_bfloat162(__hip_bfloat16(a), __hip_bfloat16(b)); }
KENGINE_HD float2 __bfloat1622float2(__hip_bfloat162 p) { return make_float2(p.x, p.y); }
KENGINE_HD __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 v) { return __hip_bfloat162(v, v); }
KENGINE_HD __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
KENGINE_HD __hip_bfloat16 __low2bfloat16(__hip_bfloat162 p) { return p.x; }
KENGINE_HD __hip_bfloat16 __high2bfloat16(__hip_bfloat162 p) { return p.y; }
KENGINE_HD __hip_bfloat162 __low2bfloat162(__hip_bfloat162 p) { return __hip_bfloat162(p.x, p.x); }
KENGINE_HD __hip_bfloat162 __high2bfloat162(__hip_bfloat162 p) { return __hip_bfloat162(p.y, p.y); }
KENGINE_HD __hip_bfloat162 make_bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return __hip_bfloat162(a, b); }
