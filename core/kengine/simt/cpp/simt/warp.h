// Barriers, and operations in which the lanes of a warp take part together.
#pragma once

namespace simt {
constexpr uint64_t all_lanes = SIMT_LANES == 64 ? ~0ull : 0xffffffffull;
#if SIMT_LANES == 64
using LaneMask = unsigned long long;
#else
using LaneMask = unsigned;
#endif
SIMT_INLINE unsigned linear_thread() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
SIMT_INLINE int lane() { return static_cast<int>(linear_thread() % SIMT_LANES); }

template <class T>
SIMT_INLINE uint64_t to_bits(T v) {
  static_assert(sizeof(T) <= 8, "a warp exchanges values of at most 8 bytes");
  uint64_t u = 0;
  __builtin_memcpy(&u, &v, sizeof v);
  return u;
}
template <class T>
SIMT_INLINE T from_bits(uint64_t u) {
  T v;
  __builtin_memcpy(&v, &u, sizeof v);
  return v;
}
// A lane that has ended or stays away gives no value: the caller keeps its own.
SIMT_RAW uint64_t exchange(uint64_t mask, uint64_t own, int source, int legacy, int line) {
  const uint64_t* values;
  uint64_t met = simt_meet(mask, own, &values, op_shuffle, legacy, line);
  return (met >> (source & 63)) & 1 ? values[source & 63] : own;
}
template <class T>
SIMT_INLINE T shuffle(uint64_t mask, T v, int source, int legacy, int line) {
  return from_bits<T>(exchange(mask, to_bits(v), source, legacy, line));
}
SIMT_RAW uint64_t ballot(uint64_t mask, int predicate, int legacy, int line) {
  const uint64_t* values;
  uint64_t met = simt_meet(mask, predicate != 0, &values, op_vote, legacy, line), result = 0;
  for (uint64_t rest = met; rest; rest &= rest - 1) {
    int i = __builtin_ctzll(rest);
    result |= (values[i] & 1) << i;
  }
  return result;
}
SIMT_RAW uint64_t match_any(uint64_t mask, uint64_t v, int line) {
  const uint64_t* values;
  uint64_t met = simt_meet(mask, v, &values, op_match, 0, line), result = 0;
  for (int i = 0; i < SIMT_LANES; ++i)
    if (((met >> i) & 1) && values[i] == v) result |= 1ull << i;
  return result;
}
SIMT_RAW uint64_t match_all(uint64_t mask, uint64_t v, int* predicate, int line) {
  const uint64_t* values;
  uint64_t met = simt_meet(mask, v, &values, op_match, 0, line);
  *predicate = 1;
  for (int i = 0; i < SIMT_LANES; ++i)
    if (((met >> i) & 1) && values[i] != v) *predicate = 0;
  return *predicate ? met : 0;
}
template <class T, class F>
SIMT_RAW T reduce(uint64_t mask, T v, F combine, int line) {
  const uint64_t* values;
  uint64_t met = simt_meet(mask, to_bits(v), &values, op_reduce, 0, line);
  T result{};
  bool first = true;
  for (int i = 0; i < SIMT_LANES; ++i)
    if ((met >> i) & 1) {
      T x = from_bits<T>(values[i]);
      result = first ? x : combine(result, x);
      first = false;
    }
  return result;
}
}  // namespace simt

SIMT_INLINE void __syncthreads(SIMT_LINE) { simt_barrier(3, 0, line); }
SIMT_INLINE int __syncthreads_count(int p, SIMT_LINE) { return simt_barrier(0, p, line); }
SIMT_INLINE int __syncthreads_and(int p, SIMT_LINE) { return simt_barrier(1, p, line); }
SIMT_INLINE int __syncthreads_or(int p, SIMT_LINE) { return simt_barrier(2, p, line); }
SIMT_INLINE void __threadfence() { __asm__ volatile("" ::: "memory"); simt_fence(); }
SIMT_INLINE void __threadfence_system() { __threadfence(); }
SIMT_INLINE void __threadfence_block() { __asm__ volatile("" ::: "memory"); }
SIMT_INLINE void __nanosleep(unsigned) { simt_yield(); }
SIMT_RAW void simt_sync_warp(uint64_t mask, int line) {
  const uint64_t* values;
  simt_meet(mask, 0, &values, simt::op_sync, 0, line);
}
SIMT_INLINE void __syncwarp(uint64_t mask = simt::all_lanes, SIMT_LINE) { simt_sync_warp(mask, line); }
SIMT_RAW simt::LaneMask simt_active(int line) {
  const uint64_t* values;
  return static_cast<simt::LaneMask>(simt_meet(simt::all_lanes, 0, &values, simt::op_active, 1, line));
}
SIMT_INLINE simt::LaneMask __activemask(SIMT_LINE) { return simt_active(line); }

// Where a lane reads from; lanes are grouped in segments of w.
#define SIMT_FROM_INDEX ((a & (w - 1)) | (l & ~(w - 1)))
#define SIMT_FROM_XOR ((l ^ a) < ((l & ~(w - 1)) + w) ? (l ^ a) : l)
#define SIMT_FROM_DOWN ((l & (w - 1)) + static_cast<int>(a) < w ? l + static_cast<int>(a) : l)
#define SIMT_FROM_UP ((l & (w - 1)) - static_cast<int>(a) >= 0 ? l - static_cast<int>(a) : l)
#define SIMT_SHUFFLE(name, source, A)                                                         \
  template <class T>                                                                          \
  SIMT_INLINE T name##_sync(uint64_t mask, T v, A a, int w = SIMT_LANES, SIMT_LINE) {         \
    int l = simt::lane();                                                                     \
    return simt::shuffle(mask, v, source, 0, line);                                           \
  }                                                                                           \
  template <class T>                                                                          \
  SIMT_INLINE T name(T v, A a, int w = SIMT_LANES, SIMT_LINE) {                               \
    SIMT_NEEDS_MASK(name, T);                                                                 \
    int l = simt::lane();                                                                     \
    return simt::shuffle(simt::all_lanes, v, source, 1, line);                                \
  }
// Nothing of compute capability 7.0 and above exchanges without a mask of the lanes that take part.
#if defined(SIMT_HIP) || __CUDA_ARCH__ < 700
#define SIMT_NEEDS_MASK(name, T) ((void)0)
#else
#define SIMT_NEEDS_MASK(name, T) \
  static_assert(sizeof(T) == 0, #name "() does not exist for compute capability 7.0 and above: use " #name "_sync(), whose first argument is the mask of lanes")
#endif
SIMT_SHUFFLE(__shfl, SIMT_FROM_INDEX, int)
SIMT_SHUFFLE(__shfl_xor, SIMT_FROM_XOR, int)
SIMT_SHUFFLE(__shfl_down, SIMT_FROM_DOWN, unsigned)
SIMT_SHUFFLE(__shfl_up, SIMT_FROM_UP, unsigned)

SIMT_INLINE simt::LaneMask __ballot_sync(uint64_t mask, int p, SIMT_LINE) { return static_cast<simt::LaneMask>(simt::ballot(mask, p, 0, line)); }
SIMT_INLINE int __any_sync(uint64_t mask, int p, SIMT_LINE) { return simt::ballot(mask, p, 0, line) != 0; }
SIMT_INLINE int __all_sync(uint64_t mask, int p, SIMT_LINE) { return simt::ballot(mask, !p, 0, line) == 0; }
#define SIMT_VOTE(R, name, expression) \
  template <class T = int>             \
  SIMT_INLINE R name(int p, SIMT_LINE) { SIMT_NEEDS_MASK(name, T); return expression; }
SIMT_VOTE(unsigned long long, __ballot, simt::ballot(simt::all_lanes, p, 1, line))
SIMT_VOTE(int, __any, simt::ballot(simt::all_lanes, p, 1, line) != 0)
SIMT_VOTE(int, __all, simt::ballot(simt::all_lanes, !p, 1, line) == 0)
template <class T>
SIMT_INLINE simt::LaneMask __match_any_sync(uint64_t mask, T v, SIMT_LINE) { return static_cast<simt::LaneMask>(simt::match_any(mask, simt::to_bits(v), line)); }
template <class T>
SIMT_INLINE simt::LaneMask __match_all_sync(uint64_t mask, T v, int* p, SIMT_LINE) { return static_cast<simt::LaneMask>(simt::match_all(mask, simt::to_bits(v), p, line)); }

#define SIMT_REDUCE(name, T, expression) \
  SIMT_INLINE T name(uint64_t mask, T v, SIMT_LINE) { return simt::reduce(mask, v, [](T a, T b) { return static_cast<T>(expression); }, line); }
SIMT_REDUCE(__reduce_add_sync, int, static_cast<unsigned>(a) + static_cast<unsigned>(b))
SIMT_REDUCE(__reduce_add_sync, unsigned, a + b)
SIMT_REDUCE(__reduce_max_sync, int, a > b ? a : b)
SIMT_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
SIMT_REDUCE(__reduce_min_sync, int, a < b ? a : b)
SIMT_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
SIMT_REDUCE(__reduce_and_sync, unsigned, a & b)
SIMT_REDUCE(__reduce_or_sync, unsigned, a | b)
SIMT_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
