// Reductions over a logical warp. The result is lane 0's; the other lanes keep partial results, as on the devices.
#pragma once
#include "../thread/thread_operators.cuh"
#include "../thread/thread_reduce.cuh"
#include "../util_ptx.cuh"

namespace cub {
namespace detail {
// Lane i takes in the lanes i + 1, i + 2, i + 4, ... of its `width` lanes, as far as `last`.
template <class T, class Op>
SIMT_INLINE T fold_lanes(uint64_t mask, int width, T v, Op op, int last, int line) {
  const int lane = simt::lane(), rank = lane % width;
  for (int offset = 1; offset < width; offset <<= 1) {
    const bool taken = rank + offset <= last;
    T other = read_lane(mask, v, taken ? lane + offset : lane, line);
    if (taken) v = static_cast<T>(op(v, other));
  }
  return v;
}
}  // namespace detail

template <class T, int Width = SIMT_LANES, int = 0>
class WarpReduce {
  static_assert(Width >= 1 && Width <= SIMT_LANES, "a logical warp has at most the lanes of a warp");
  static constexpr bool power = (Width & (Width - 1)) == 0;
  // Logical warps that are no power of two lie at the start of a warp.
  SIMT_MEMBER static uint64_t mask() { return power ? detail::logical_mask<Width>() : detail::mask_of(Width); }
  SIMT_MEMBER static int rank() { return power ? simt::lane() % Width : simt::lane(); }
  template <bool Head, class Flag, class Op>
  SIMT_MEMBER T segmented(T v, Flag flag, Op op, int line) {
    const int first = simt::lane() - rank();
    uint64_t flags = (simt::ballot(mask(), flag ? 1 : 0, 0, line) & mask()) >> first;
    flags >>= Head ? rank() + 1 : rank();
    const int next = flags ? __builtin_ctzll(flags) + rank() : Width - 1;
    return detail::fold_lanes(mask(), power ? Width : SIMT_LANES, v, op, next < Width ? next : Width - 1, line);
  }

 public:
  struct TempStorage { char simt_unused; };
  SIMT_MEMBER WarpReduce() {}
  SIMT_MEMBER WarpReduce(TempStorage&) {}

  template <class Op> SIMT_MEMBER T Reduce(T v, Op op, CUB_LINE) { return detail::fold_lanes(mask(), power ? Width : SIMT_LANES, v, op, Width - 1, line.value); }
  template <class Op> SIMT_MEMBER T Reduce(T v, Op op, int valid, CUB_LINE) { return detail::fold_lanes(mask(), power ? Width : SIMT_LANES, v, op, valid - 1, line.value); }
  template <int N, class Op> SIMT_MEMBER T Reduce(T (&items)[N], Op op, CUB_LINE) { return Reduce(ThreadReduce(items, op), op, line); }
  SIMT_MEMBER T Sum(T v, CUB_LINE) { return Reduce(v, ::cub::detail::Sum(), line); }
  SIMT_MEMBER T Sum(T v, int valid, CUB_LINE) { return Reduce(v, ::cub::detail::Sum(), valid, line); }
  template <int N> SIMT_MEMBER T Sum(T (&items)[N], CUB_LINE) { return Reduce(items, ::cub::detail::Sum(), line); }
  SIMT_MEMBER T Max(T v, CUB_LINE) { return Reduce(v, ::cub::detail::Max(), line); }
  SIMT_MEMBER T Max(T v, int valid, CUB_LINE) { return Reduce(v, ::cub::detail::Max(), valid, line); }
  SIMT_MEMBER T Min(T v, CUB_LINE) { return Reduce(v, ::cub::detail::Min(), line); }
  SIMT_MEMBER T Min(T v, int valid, CUB_LINE) { return Reduce(v, ::cub::detail::Min(), valid, line); }
  // A flag starts a segment (head) or ends one (tail); the result is that of a segment's first lane.
  template <class Flag, class Op> SIMT_MEMBER T HeadSegmentedReduce(T v, Flag flag, Op op, CUB_LINE) { return segmented<true>(v, flag, op, line.value); }
  template <class Flag, class Op> SIMT_MEMBER T TailSegmentedReduce(T v, Flag flag, Op op, CUB_LINE) { return segmented<false>(v, flag, op, line.value); }
  template <class Flag> SIMT_MEMBER T HeadSegmentedSum(T v, Flag flag, CUB_LINE) { return segmented<true>(v, flag, ::cub::detail::Sum(), line.value); }
  template <class Flag> SIMT_MEMBER T TailSegmentedSum(T v, Flag flag, CUB_LINE) { return segmented<false>(v, flag, ::cub::detail::Sum(), line.value); }
};

}  // namespace cub
