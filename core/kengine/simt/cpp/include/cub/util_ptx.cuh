// Positions of threads, barriers, and exchanges of values of any size between lanes.
#pragma once
#include "util_type.cuh"

namespace cub {

#ifdef CUB_HAS_OLD_NAMES
SIMT_INLINE int LaneId() { return simt::lane(); }
SIMT_INLINE int WarpId() { return static_cast<int>(simt::linear_thread() / SIMT_LANES); }
SIMT_INLINE void CTA_SYNC(SIMT_LINE) { simt_barrier(3, 0, line); }
SIMT_INLINE void WARP_SYNC(uint64_t mask, SIMT_LINE) { simt_sync_warp(mask, line); }
#else
#define CUB_GONE_FUNCTION(type, name, instead, ...) \
  template <class T = void> type name(__VA_ARGS__) { static_assert(detail::never<T>, CUB_GONE(name, instead)); return type(); }
CUB_GONE_FUNCTION(int, LaneId, "threadIdx.x % 32")
CUB_GONE_FUNCTION(int, WarpId, "threadIdx.x / 32")
CUB_GONE_FUNCTION(void, CTA_SYNC, "__syncthreads()")
CUB_GONE_FUNCTION(void, WARP_SYNC, "__syncwarp(mask)", uint64_t)
#undef CUB_GONE_FUNCTION
#endif
SIMT_INLINE int RowMajorTid(int x, int y, int) { return static_cast<int>((threadIdx.z * y + threadIdx.y) * x + threadIdx.x); }

namespace detail {
constexpr uint64_t mask_of(int lanes) { return lanes >= 64 ? ~0ull : (1ull << lanes) - 1; }
// Members of the logical warp of `width` lanes that this lane belongs to.
template <int Width>
SIMT_INLINE uint64_t logical_mask() { return mask_of(Width) << (simt::lane() / Width * Width); }

// The value of a lane of the warp; every member of the mask takes part.
template <class T>
SIMT_INLINE T read_lane(uint64_t mask, const T& own, int source, int line) {
  constexpr size_t words = (sizeof(T) + 7) / 8;
  uint64_t given[words] = {};
  __builtin_memcpy(given, &own, sizeof(T));
  for (size_t i = 0; i < words; ++i) given[i] = simt::exchange(mask, given[i], source, 0, line);
  Uninitialized<T> out;
  __builtin_memcpy(&out, given, sizeof(T));
  return out.Alias();
}
}  // namespace detail

template <int Width, class T>
SIMT_INLINE T ShuffleDown(T v, int offset, int last, unsigned mask, CUB_LINE) {
  const int lane = simt::lane(), rank = lane % Width;
  return detail::read_lane(mask, v, rank + offset <= last ? lane + offset : lane, line.value);
}
template <int Width, class T>
SIMT_INLINE T ShuffleUp(T v, int offset, int first, unsigned mask, CUB_LINE) {
  const int lane = simt::lane(), rank = lane % Width;
  return detail::read_lane(mask, v, rank - offset >= first ? lane - offset : lane, line.value);
}
template <int Width, class T>
SIMT_INLINE T ShuffleIndex(T v, int rank, unsigned mask, CUB_LINE) {
  return detail::read_lane(mask, v, simt::lane() / Width * Width + rank % Width, line.value);
}

}  // namespace cub
