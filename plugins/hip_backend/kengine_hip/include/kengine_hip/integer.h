// Integer intrinsics, conversions with a named rounding, and reinterpretations of bits.
#pragma once

KENGINE_D int __popc(unsigned x) { return __builtin_popcount(x); }
KENGINE_D int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
KENGINE_D int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
KENGINE_D int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
KENGINE_D int __ffs(int x) { return __builtin_ffs(x); }
KENGINE_D int __ffsll(long long x) { return __builtin_ffsll(x); }
KENGINE_D int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
KENGINE_D unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
KENGINE_D unsigned long long __brevll(unsigned long long x) { return __builtin_bitreverse64(x); }
KENGINE_D int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
KENGINE_D unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffff) * (b & 0xffffff); }
KENGINE_D int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
KENGINE_D unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
KENGINE_D long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
KENGINE_D unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
KENGINE_D int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
KENGINE_D int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
KENGINE_D unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b) >> 1); }
KENGINE_D unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a + b + 1) >> 1); }
KENGINE_D unsigned __sad(int a, int b, unsigned c) { return (unsigned)(a > b ? a - b : b - a) + c; }
KENGINE_D unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
KENGINE_D unsigned __funnelshift_l(unsigned low, unsigned high, unsigned n) { return (unsigned)((((unsigned long long)high << 32 | low) << (n & 31)) >> 32); }
KENGINE_D unsigned __funnelshift_r(unsigned low, unsigned high, unsigned n) { return (unsigned)(((unsigned long long)high << 32 | low) >> (n & 31)); }
KENGINE_D unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) r |= (unsigned)((both >> (8 * ((s >> (4 * i)) & 7))) & 0xff) << (8 * i);
  return r;
}
KENGINE_D unsigned __bitextract_u32(unsigned x, unsigned at, unsigned n) { return n >= 32 ? x >> at : (x >> at) & ((1u << n) - 1); }
KENGINE_D unsigned __lane_id() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

KENGINE_D int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
KENGINE_D unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
KENGINE_D float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
KENGINE_D float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
KENGINE_D long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
KENGINE_D double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
KENGINE_D int __double2hiint(double x) { return (int)(__builtin_bit_cast(long long, x) >> 32); }
KENGINE_D int __double2loint(double x) { return (int)__builtin_bit_cast(long long, x); }
KENGINE_D double __hiloint2double(int high, int low) { return __builtin_bit_cast(double, (long long)high << 32 | (unsigned)low); }

#define KENGINE_TO_INTEGER(from, F, s, to, I)                                           \
  KENGINE_D I __##from##2##to##_rn(F x) { return (I)__ocml_rint_##s(x); }               \
  KENGINE_D I __##from##2##to##_rz(F x) { return (I)x; }                                \
  KENGINE_D I __##from##2##to##_rd(F x) { return (I)__ocml_floor_##s(x); }              \
  KENGINE_D I __##from##2##to##_ru(F x) { return (I)__ocml_ceil_##s(x); }
KENGINE_TO_INTEGER(float, float, f32, int, int)
KENGINE_TO_INTEGER(float, float, f32, uint, unsigned)
KENGINE_TO_INTEGER(float, float, f32, ll, long long)
KENGINE_TO_INTEGER(float, float, f32, ull, unsigned long long)
KENGINE_TO_INTEGER(double, double, f64, int, int)
KENGINE_TO_INTEGER(double, double, f64, uint, unsigned)
KENGINE_TO_INTEGER(double, double, f64, ll, long long)
KENGINE_TO_INTEGER(double, double, f64, ull, unsigned long long)
#define KENGINE_TO_FLOAT(from, I)                                         \
  KENGINE_D float __##from##2float_rn(I x) { return (float)x; }           \
  KENGINE_D double __##from##2double_rn(I x) { return (double)x; }
KENGINE_TO_FLOAT(int, int)
KENGINE_TO_FLOAT(uint, unsigned)
KENGINE_TO_FLOAT(ll, long long)
KENGINE_TO_FLOAT(ull, unsigned long long)
KENGINE_D double __int2double_rn(int x, int) { return (double)x; }
KENGINE_D float __double2float_rn(double x) { return (float)x; }
KENGINE_D float __double2float_rz(double x) {
  float f = (float)x;
  bool outward = __builtin_fabs((double)f) > __builtin_fabs(x);
  return outward ? __builtin_bit_cast(float, __builtin_bit_cast(unsigned, f) - 1u) : f;
}
