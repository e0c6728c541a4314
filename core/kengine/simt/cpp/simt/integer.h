// Integer and bit intrinsics, packed integers, clocks, loads and stores with cache hints.
#pragma once

SIMT_INLINE int __popc(unsigned x) { return __builtin_popcount(x); }
SIMT_INLINE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SIMT_INLINE int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
SIMT_INLINE int __clzll(long long x) { return x ? __builtin_clzll(static_cast<unsigned long long>(x)) : 64; }
SIMT_INLINE int __ffs(int x) { return __builtin_ffs(x); }
SIMT_INLINE int __ffsll(long long x) { return __builtin_ffsll(x); }
SIMT_INLINE unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
SIMT_INLINE unsigned long long __brevll(unsigned long long x) { return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 | __brev(static_cast<unsigned>(x >> 32)); }
SIMT_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  uint64_t all = static_cast<uint64_t>(y) << 32 | x;
  unsigned r = 0;
  for (int i = 0; i < 4; ++i) {
    unsigned selector = s >> (4 * i) & 0xf, byte = static_cast<unsigned>(all >> (8 * (selector & 7))) & 0xff;
    if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}
SIMT_INLINE unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { return static_cast<unsigned>(((static_cast<uint64_t>(hi) << 32 | lo) << (s & 31)) >> 32); }
SIMT_INLINE unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { return static_cast<unsigned>((static_cast<uint64_t>(hi) << 32 | lo) >> (s & 31)); }
SIMT_INLINE unsigned __umulhi(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<uint64_t>(a) * b >> 32); }
SIMT_INLINE int __mulhi(int a, int b) { return static_cast<int>(static_cast<int64_t>(a) * b >> 32); }
SIMT_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64); }
SIMT_INLINE long long __mul64hi(long long a, long long b) { return static_cast<long long>(static_cast<__int128>(a) * b >> 64); }
SIMT_INLINE int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
SIMT_INLINE unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SIMT_INLINE unsigned __sad(int a, int b, unsigned c) { return (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b) : static_cast<unsigned>(b) - static_cast<unsigned>(a)) + c; }
SIMT_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
SIMT_INLINE int __hadd(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) + b) >> 1); }
SIMT_INLINE int __rhadd(int a, int b) { return static_cast<int>((static_cast<int64_t>(a) + b + 1) >> 1); }

SIMT_INLINE int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 4; ++i) c += static_cast<int8_t>(a >> (8 * i)) * static_cast<int8_t>(b >> (8 * i));
  return c;
}
SIMT_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 4; ++i) c += (a >> (8 * i) & 0xff) * (b >> (8 * i) & 0xff);
  return c;
}
SIMT_INLINE int __dp2a_lo(int a, int b, int c) { return c + static_cast<int16_t>(a) * static_cast<int8_t>(b) + static_cast<int16_t>(a >> 16) * static_cast<int8_t>(b >> 8); }
SIMT_INLINE int __dp2a_hi(int a, int b, int c) { return c + static_cast<int16_t>(a) * static_cast<int8_t>(b >> 16) + static_cast<int16_t>(a >> 16) * static_cast<int8_t>(b >> 24); }

#define SIMT_PACKED(name, bits, T, expression)                                            \
  SIMT_INLINE unsigned name(unsigned p, unsigned q) {                                     \
    unsigned r = 0;                                                                       \
    for (int i = 0; i < 32; i += bits) {                                                  \
      int a = static_cast<T>(p >> i), b = static_cast<T>(q >> i), v = expression;         \
      (void)a; (void)b;                                                                   \
      r |= (static_cast<unsigned>(v) & (bits == 8 ? 0xffu : 0xffffu)) << i;               \
    }                                                                                     \
    return r;                                                                             \
  }
SIMT_PACKED(__vadd4, 8, uint8_t, a + b) SIMT_PACKED(__vsub4, 8, uint8_t, a - b) SIMT_PACKED(__vadd2, 16, uint16_t, a + b) SIMT_PACKED(__vsub2, 16, uint16_t, a - b)
SIMT_PACKED(__vmaxs4, 8, int8_t, a > b ? a : b) SIMT_PACKED(__vmins4, 8, int8_t, a < b ? a : b) SIMT_PACKED(__vmaxu4, 8, uint8_t, a > b ? a : b) SIMT_PACKED(__vminu4, 8, uint8_t, a < b ? a : b)
SIMT_PACKED(__vcmpeq4, 8, uint8_t, a == b ? 0xff : 0) SIMT_PACKED(__vcmpgtu4, 8, uint8_t, a > b ? 0xff : 0) SIMT_PACKED(__vabsdiffu4, 8, uint8_t, a > b ? a - b : b - a)
SIMT_PACKED(__vaddss4, 8, int8_t, a + b > 127 ? 127 : a + b < -128 ? -128 : a + b) SIMT_PACKED(__vaddus4, 8, uint8_t, a + b > 255 ? 255 : a + b)
SIMT_PACKED(__vsubss4, 8, int8_t, a - b > 127 ? 127 : a - b < -128 ? -128 : a - b)

// Loads and stores with cache hints are loads and stores.
#define SIMT_LOAD(name) \
  template <class T> SIMT_INLINE T name(const T* p) { return *p; }
#define SIMT_STORE(name) \
  template <class T> SIMT_INLINE void name(T* p, const std::common_type_t<T>& v) { *p = v; }
#if defined(SIMT_CHECK) && !defined(SIMT_HIP)
// Through the read-only cache, which does not see what the launch itself writes; HIP's is an ordinary load.
template <class T> SIMT_INLINE T __ldg(const T* p) {
  simt_note_constant(p, sizeof(T));
  return *p;
}
#else
SIMT_LOAD(__ldg)
#endif
SIMT_LOAD(__ldcg) SIMT_LOAD(__ldca) SIMT_LOAD(__ldcs) SIMT_LOAD(__ldlu) SIMT_LOAD(__ldcv)
SIMT_STORE(__stcs) SIMT_STORE(__stcg) SIMT_STORE(__stwb) SIMT_STORE(__stwt)
#ifndef __clang__
template <class T> SIMT_INLINE T __builtin_nontemporal_load(const T* p) { return *p; }
template <class T, class U> SIMT_INLINE void __builtin_nontemporal_store(U v, T* p) { *p = v; }
#define __builtin_assume(x) ((void)0)
#endif
#define __builtin_amdgcn_readfirstlane(x) (x)

namespace simt {
SIMT_INLINE long long ticks() {
#if defined(__x86_64__)
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  static long long now;
  return now += 64;
#endif
}
}  // namespace simt
SIMT_INLINE long long clock64() { return simt::ticks(); }
SIMT_INLINE long long wall_clock64() { return simt::ticks(); }
SIMT_INLINE unsigned long long __globaltimer() { return static_cast<unsigned long long>(simt::ticks()); }
SIMT_INLINE void __trap() { simt_fail(simt::assert_failed, "the kernel called __trap", nullptr, 0); }
SIMT_INLINE void __brkpt() {}
SIMT_INLINE void __prof_trigger(int) {}
SIMT_INLINE unsigned __isGlobal(const void*) { return 1; }
SIMT_INLINE size_t __cvta_generic_to_shared(const void* p) { return reinterpret_cast<size_t>(p); }
SIMT_INLINE unsigned __smid() { return blockIdx.x % 132; }
