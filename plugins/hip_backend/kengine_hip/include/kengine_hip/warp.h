// Operations in which the lanes of a wavefront take part together. Masks of the _sync forms have 64 bits, on wavefronts
// of 32 lanes too; a 32-bit mask does not compile, as with ROCm.
#pragma once

namespace kengine {
template <class T>
KENGINE_D T read_lane(T v, int source) {
  static_assert(sizeof(T) <= 8, "a shuffle moves values of at most 8 bytes");
  if constexpr (sizeof(T) <= 4) {
    int word = 0;
    __builtin_memcpy(&word, &v, sizeof(T));
    word = __builtin_amdgcn_ds_bpermute(source << 2, word);
    __builtin_memcpy(&v, &word, sizeof(T));
  } else {
    int words[2];
    __builtin_memcpy(words, &v, 8);
    words[0] = __builtin_amdgcn_ds_bpermute(source << 2, words[0]);
    words[1] = __builtin_amdgcn_ds_bpermute(source << 2, words[1]);
    __builtin_memcpy(&v, words, 8);
  }
  return v;
}
KENGINE_D unsigned long long votes(bool p) {
#if KENGINE_WAVE == 64
  return __builtin_amdgcn_ballot_w64(p);
#else
  return __builtin_amdgcn_ballot_w32(p);
#endif
}
template <class Mask>
KENGINE_D void check_mask() {
  static_assert(__is_integral(Mask) && sizeof(Mask) == 8,
                "the lane mask of a _sync operation must have 64 bits on AMD devices: write 0xffffffffffffffffULL");
}
}  // namespace kengine

template <class T> KENGINE_D T __shfl(T v, int source, int width = warpSize) {
  int own = (int)__lane_id();
  return kengine::read_lane(v, (source & (width - 1)) + (own & ~(width - 1)));
}
template <class T> KENGINE_D T __shfl_xor(T v, int mask, int width = warpSize) {
  int own = (int)__lane_id(), other = own ^ mask;
  return kengine::read_lane(v, other >= ((own + width) & ~(width - 1)) ? own : other);
}
template <class T> KENGINE_D T __shfl_down(T v, unsigned by, int width = warpSize) {
  int own = (int)__lane_id();
  return kengine::read_lane(v, (int)((own & (width - 1)) + by) >= width ? own : own + (int)by);
}
template <class T> KENGINE_D T __shfl_up(T v, unsigned by, int width = warpSize) {
  int own = (int)__lane_id(), other = own - (int)by;
  return kengine::read_lane(v, other < (own & ~(width - 1)) ? own : other);
}
KENGINE_D unsigned long long __ballot(int p) { return kengine::votes(p != 0); }
KENGINE_D unsigned long long __activemask() { return kengine::votes(true); }
KENGINE_D int __any(int p) { return kengine::votes(p != 0) != 0; }
KENGINE_D int __all(int p) { return kengine::votes(p == 0) == 0; }
KENGINE_D unsigned long long __lanemask_lt() { return (1ull << __lane_id()) - 1; }

KENGINE_D void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
template <class Mask> KENGINE_D void __syncwarp(Mask) { kengine::check_mask<Mask>(); __syncwarp(); }
#define KENGINE_SYNC_SHUFFLE(name, A)                                            \
  template <class Mask, class T>                                                 \
  KENGINE_D T name##_sync(Mask, T v, A a, int width = warpSize) {                \
    kengine::check_mask<Mask>();                                                 \
    return name(v, a, width);                                                    \
  }
KENGINE_SYNC_SHUFFLE(__shfl, int)
KENGINE_SYNC_SHUFFLE(__shfl_xor, int)
KENGINE_SYNC_SHUFFLE(__shfl_down, unsigned)
KENGINE_SYNC_SHUFFLE(__shfl_up, unsigned)
template <class Mask> KENGINE_D unsigned long long __ballot_sync(Mask m, int p) { kengine::check_mask<Mask>(); return __ballot(p) & m; }
template <class Mask> KENGINE_D int __any_sync(Mask m, int p) { kengine::check_mask<Mask>(); return (__ballot(p) & m) != 0; }
template <class Mask> KENGINE_D int __all_sync(Mask m, int p) { kengine::check_mask<Mask>(); return (__ballot(p) & m) == (m & __activemask()); }
template <class Mask, class T> KENGINE_D unsigned long long __match_any_sync(Mask m, T v) {
  kengine::check_mask<Mask>();
  unsigned long long rest = m & __activemask(), same = 0;
  while (rest) {
    int leader = __builtin_ctzll(rest);
    unsigned long long equal = __ballot(kengine::read_lane(v, leader) == v) & rest;
    if ((equal >> __lane_id()) & 1) same = equal;
    rest &= ~equal;
  }
  return same;
}
template <class Mask, class T> KENGINE_D unsigned long long __match_all_sync(Mask m, T v, int* p) {
  kengine::check_mask<Mask>();
  unsigned long long lanes = m & __activemask();
  *p = (__ballot(kengine::read_lane(v, __builtin_ctzll(lanes)) == v) & lanes) == lanes;
  return *p ? lanes : 0;
}
#define KENGINE_SYNC_REDUCE(name, expression)                                                   \
  template <class Mask, class T>                                                                \
  KENGINE_D T name(Mask m, T v) {                                                               \
    kengine::check_mask<Mask>();                                                                \
    unsigned long long rest = m & __activemask();                                               \
    T r = kengine::read_lane(v, __builtin_ctzll(rest));                                         \
    for (rest &= rest - 1; rest; rest &= rest - 1) {                                            \
      T a = r, b = kengine::read_lane(v, __builtin_ctzll(rest));                                \
      r = (T)(expression);                                                                      \
    }                                                                                           \
    return r;                                                                                   \
  }
KENGINE_SYNC_REDUCE(__reduce_add_sync, a + b)
KENGINE_SYNC_REDUCE(__reduce_min_sync, b < a ? b : a)
KENGINE_SYNC_REDUCE(__reduce_max_sync, a < b ? b : a)
KENGINE_SYNC_REDUCE(__reduce_and_sync, a & b)
KENGINE_SYNC_REDUCE(__reduce_or_sync, a | b)
KENGINE_SYNC_REDUCE(__reduce_xor_sync, a ^ b)
