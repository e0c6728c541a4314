// Prefix sums over a logical warp.
#pragma once
#include "warp_reduce.cuh"

namespace cub {
namespace detail {
template <class T, class Op>
SIMT_INLINE T scan_lanes(uint64_t mask, int width, T v, Op op, int line) {
  const int lane = simt::lane(), rank = lane % width;
  for (int offset = 1; offset < width; offset <<= 1) {
    T other = read_lane(mask, v, rank >= offset ? lane - offset : lane, line);
    if (rank >= offset) v = static_cast<T>(op(other, v));
  }
  return v;
}
}  // namespace detail

template <class T, int Width = SIMT_LANES, int = 0>
class WarpScan {
  static_assert(Width >= 1 && Width <= SIMT_LANES && (Width & (Width - 1)) == 0, "a logical warp has a power of two of lanes");
  SIMT_MEMBER static int rank() { return simt::lane() % Width; }
  SIMT_MEMBER static T at(T v, int wanted, int line) { return detail::read_lane(detail::logical_mask<Width>(), v, simt::lane() - rank() + wanted, line); }
  template <class Op> SIMT_MEMBER static T scan(T v, Op op, int line) { return detail::scan_lanes(detail::logical_mask<Width>(), Width, v, op, line); }
  // Of the lane before; lane 0 keeps its own.
  SIMT_MEMBER static T before(T v, int line) { return at(v, rank() ? rank() - 1 : 0, line); }

 public:
  struct TempStorage { char simt_unused; };
  SIMT_MEMBER WarpScan() {}
  SIMT_MEMBER WarpScan(TempStorage&) {}

  SIMT_MEMBER T Broadcast(T v, unsigned source, CUB_LINE) { return at(v, static_cast<int>(source), line.value); }
  template <class Op> SIMT_MEMBER void InclusiveScan(T v, T& out, Op op, CUB_LINE) { out = scan(v, op, line.value); }
  template <class Op> SIMT_MEMBER void InclusiveScan(T v, T& out, Op op, T& aggregate, CUB_LINE) {
    out = scan(v, op, line.value);
    aggregate = at(out, Width - 1, line.value);
  }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, Op op, CUB_LINE) { out = before(scan(v, op, line.value), line.value); }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, T initial, Op op, CUB_LINE) {
    T previous = before(scan(v, op, line.value), line.value);
    out = rank() ? static_cast<T>(op(initial, previous)) : initial;
  }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, Op op, T& aggregate, CUB_LINE) {
    T inclusive = scan(v, op, line.value);
    aggregate = at(inclusive, Width - 1, line.value);
    out = before(inclusive, line.value);
  }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, T initial, Op op, T& aggregate, CUB_LINE) {
    T inclusive = scan(v, op, line.value), previous = before(inclusive, line.value);
    aggregate = at(inclusive, Width - 1, line.value);
    out = rank() ? static_cast<T>(op(initial, previous)) : initial;
  }
  template <class Op> SIMT_MEMBER void Scan(T v, T& inclusive, T& exclusive, Op op, CUB_LINE) {
    inclusive = scan(v, op, line.value);
    exclusive = before(inclusive, line.value);
  }
  template <class Op> SIMT_MEMBER void Scan(T v, T& inclusive, T& exclusive, T initial, Op op, CUB_LINE) {
    T own = scan(v, op, line.value), previous = before(own, line.value);
    inclusive = static_cast<T>(op(initial, own));
    exclusive = rank() ? static_cast<T>(op(initial, previous)) : initial;
  }
  SIMT_MEMBER void InclusiveSum(T v, T& out, CUB_LINE) { InclusiveScan(v, out, ::cub::detail::Sum(), line); }
  SIMT_MEMBER void InclusiveSum(T v, T& out, T& aggregate, CUB_LINE) { InclusiveScan(v, out, ::cub::detail::Sum(), aggregate, line); }
  SIMT_MEMBER void ExclusiveSum(T v, T& out, CUB_LINE) { ExclusiveScan(v, out, T{}, ::cub::detail::Sum(), line); }
  SIMT_MEMBER void ExclusiveSum(T v, T& out, T& aggregate, CUB_LINE) { ExclusiveScan(v, out, T{}, ::cub::detail::Sum(), aggregate, line); }
};

}  // namespace cub
