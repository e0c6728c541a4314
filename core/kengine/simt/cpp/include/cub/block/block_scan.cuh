// Prefix sums over a block: within warps by shuffles, then over the sums of the warps before.
#pragma once
#include "../warp/warp_scan.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1, int = 0>
class BlockScan {
  static constexpr int threads = X * Y * Z, warps = (threads + SIMT_LANES - 1) / SIMT_LANES;

 public:
  struct TempStorage {
    Uninitialized<T> simt_aggregates[warps];
    Uninitialized<T> simt_prefix;
  };

 private:
  TempStorage& storage_;
  SIMT_MEMBER static int tid() { return static_cast<int>(simt::linear_thread()); }

  // The exclusive result, which thread 0 has none of.
  template <class Op>
  SIMT_MEMBER T scan(T v, Op op, T& inclusive, T& aggregate, int line) {
    const int lane = simt::lane(), warp = tid() / SIMT_LANES, rest = threads - warp * SIMT_LANES;
    const int members = rest < SIMT_LANES ? rest : SIMT_LANES;
    const uint64_t mask = detail::mask_of(members);
    inclusive = detail::scan_lanes(mask, SIMT_LANES, v, op, line);
    T exclusive = detail::read_lane(mask, inclusive, lane ? lane - 1 : 0, line);
    if (lane == members - 1) storage_.simt_aggregates[warp].Alias() = inclusive;
    simt_barrier(3, 0, line);
    T total = storage_.simt_aggregates[0].Alias(), prefix = total;
    for (int i = 1; i < warps; ++i) {
      if (i == warp) prefix = total;
      total = static_cast<T>(op(total, storage_.simt_aggregates[i].Alias()));
    }
    if (warp) {
      exclusive = lane ? static_cast<T>(op(prefix, exclusive)) : prefix;
      inclusive = static_cast<T>(op(prefix, inclusive));
    }
    aggregate = total;
    return exclusive;
  }
  // The first warp asks the callback for what precedes the block; lane 0's answer counts.
  template <class Callback>
  SIMT_MEMBER T preceding(T aggregate, Callback& callback, int line) {
    if (tid() < SIMT_LANES) {
      T given = callback(aggregate);
      if (tid() == 0) storage_.simt_prefix.Alias() = given;
    }
    simt_barrier(3, 0, line);
    return storage_.simt_prefix.Alias();
  }

 public:
  SIMT_MEMBER BlockScan() : storage_(detail::PrivateStorage<BlockScan, TempStorage>::get()) {}
  SIMT_MEMBER BlockScan(TempStorage& storage) : storage_(storage) {}

  template <class Op> SIMT_MEMBER void InclusiveScan(T v, T& out, Op op, CUB_LINE) { T all; scan(v, op, out, all, line.value); }
  template <class Op> SIMT_MEMBER void InclusiveScan(T v, T& out, Op op, T& aggregate, CUB_LINE) { scan(v, op, out, aggregate, line.value); }
  template <class Op, class Callback> SIMT_MEMBER void InclusiveScan(T v, T& out, Op op, Callback& callback, CUB_LINE) {
    T inclusive, all;
    scan(v, op, inclusive, all, line.value);
    out = static_cast<T>(op(preceding(all, callback, line.value), inclusive));
  }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, Op op, CUB_LINE) { T inclusive, all; out = scan(v, op, inclusive, all, line.value); }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, Op op, T& aggregate, CUB_LINE) { T inclusive; out = scan(v, op, inclusive, aggregate, line.value); }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, T initial, Op op, CUB_LINE) { T all; ExclusiveScan(v, out, initial, op, all, line); }
  template <class Op> SIMT_MEMBER void ExclusiveScan(T v, T& out, T initial, Op op, T& aggregate, CUB_LINE) {
    T inclusive, previous = scan(v, op, inclusive, aggregate, line.value);
    out = tid() ? static_cast<T>(op(initial, previous)) : initial;
  }
  template <class Op, class Callback> SIMT_MEMBER void ExclusiveScan(T v, T& out, Op op, Callback& callback, CUB_LINE) {
    T inclusive, all, previous = scan(v, op, inclusive, all, line.value), prefix = preceding(all, callback, line.value);
    out = tid() ? static_cast<T>(op(prefix, previous)) : prefix;
  }

  // Several items a thread, one after the other.
  template <int N, class Op> SIMT_MEMBER void InclusiveScan(T (&in)[N], T (&out)[N], Op op, CUB_LINE) { T all; InclusiveScan(in, out, op, all, line); }
  template <int N, class Op> SIMT_MEMBER void InclusiveScan(T (&in)[N], T (&out)[N], Op op, T& aggregate, CUB_LINE) {
    T inclusive, previous = scan(ThreadReduce(in, op), op, inclusive, aggregate, line.value);
    ThreadScanInclusive(in, out, op, previous, tid() != 0);
  }
  template <int N, class Op, class Callback> SIMT_MEMBER void InclusiveScan(T (&in)[N], T (&out)[N], Op op, Callback& callback, CUB_LINE) {
    T previous;
    ExclusiveScan(ThreadReduce(in, op), previous, op, callback, line);
    ThreadScanInclusive(in, out, op, previous);
  }
  template <int N, class Op> SIMT_MEMBER void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, CUB_LINE) { T all; ExclusiveScan(in, out, op, all, line); }
  template <int N, class Op> SIMT_MEMBER void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, T& aggregate, CUB_LINE) {
    T inclusive, previous = scan(ThreadReduce(in, op), op, inclusive, aggregate, line.value);
    ThreadScanExclusive(in, out, op, previous, tid() != 0);
  }
  template <int N, class Op> SIMT_MEMBER void ExclusiveScan(T (&in)[N], T (&out)[N], T initial, Op op, CUB_LINE) { T all; ExclusiveScan(in, out, initial, op, all, line); }
  template <int N, class Op> SIMT_MEMBER void ExclusiveScan(T (&in)[N], T (&out)[N], T initial, Op op, T& aggregate, CUB_LINE) {
    T previous;
    ExclusiveScan(ThreadReduce(in, op), previous, initial, op, aggregate, line);
    ThreadScanExclusive(in, out, op, previous);
  }
  template <int N, class Op, class Callback> SIMT_MEMBER void ExclusiveScan(T (&in)[N], T (&out)[N], Op op, Callback& callback, CUB_LINE) {
    T previous;
    ExclusiveScan(ThreadReduce(in, op), previous, op, callback, line);
    ThreadScanExclusive(in, out, op, previous);
  }

  SIMT_MEMBER void InclusiveSum(T v, T& out, CUB_LINE) { InclusiveScan(v, out, ::cub::detail::Sum(), line); }
  template <class A> SIMT_MEMBER void InclusiveSum(T v, T& out, A& more, CUB_LINE) { InclusiveScan(v, out, ::cub::detail::Sum(), more, line); }
  template <int N> SIMT_MEMBER void InclusiveSum(T (&in)[N], T (&out)[N], CUB_LINE) { InclusiveScan(in, out, ::cub::detail::Sum(), line); }
  template <int N, class A> SIMT_MEMBER void InclusiveSum(T (&in)[N], T (&out)[N], A& more, CUB_LINE) { InclusiveScan(in, out, ::cub::detail::Sum(), more, line); }
  SIMT_MEMBER void ExclusiveSum(T v, T& out, CUB_LINE) { ExclusiveScan(v, out, T{}, ::cub::detail::Sum(), line); }
  SIMT_MEMBER void ExclusiveSum(T v, T& out, T& aggregate, CUB_LINE) { ExclusiveScan(v, out, T{}, ::cub::detail::Sum(), aggregate, line); }
  template <class A> SIMT_MEMBER void ExclusiveSum(T v, T& out, A& callback, CUB_LINE) { ExclusiveScan(v, out, ::cub::detail::Sum(), callback, line); }
  template <int N> SIMT_MEMBER void ExclusiveSum(T (&in)[N], T (&out)[N], CUB_LINE) { ExclusiveScan(in, out, T{}, ::cub::detail::Sum(), line); }
  template <int N> SIMT_MEMBER void ExclusiveSum(T (&in)[N], T (&out)[N], T& aggregate, CUB_LINE) { ExclusiveScan(in, out, T{}, ::cub::detail::Sum(), aggregate, line); }
  template <int N, class A> SIMT_MEMBER void ExclusiveSum(T (&in)[N], T (&out)[N], A& callback, CUB_LINE) { ExclusiveScan(in, out, ::cub::detail::Sum(), callback, line); }
};

}  // namespace cub
