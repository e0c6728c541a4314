// Reductions over a block: warps by shuffles, then thread 0 over what they wrote to shared memory. The result is
// thread 0's; the others keep partial results, and the storage may be used again behind a barrier, as on the devices.
#pragma once
#include "../warp/warp_reduce.cuh"

namespace cub {

enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS, BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC };

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1, int = 0>
class BlockReduce {
  static constexpr int threads = X * Y * Z, warps = (threads + SIMT_LANES - 1) / SIMT_LANES;

 public:
  struct TempStorage { Uninitialized<T> simt_aggregates[warps]; };

 private:
  TempStorage& storage_;
  template <class Op>
  SIMT_MEMBER T reduce(T v, Op op, int valid, int line) {
    const int tid = static_cast<int>(simt::linear_thread()), warp = tid / SIMT_LANES, first = warp * SIMT_LANES;
    const int members = threads - first < SIMT_LANES ? threads - first : SIMT_LANES;
    v = detail::fold_lanes(detail::mask_of(members), SIMT_LANES, v, op, (valid - first < members ? valid - first : members) - 1, line);
    if (tid % SIMT_LANES == 0) storage_.simt_aggregates[warp].Alias() = v;
    simt_barrier(3, 0, line);
    if (tid == 0)
      for (int i = 1; i < warps && i * SIMT_LANES < valid; ++i) v = static_cast<T>(op(v, storage_.simt_aggregates[i].Alias()));
    return v;
  }

 public:
  SIMT_MEMBER BlockReduce() : storage_(detail::PrivateStorage<BlockReduce, TempStorage>::get()) {}
  SIMT_MEMBER BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class Op> SIMT_MEMBER T Reduce(T v, Op op, CUB_LINE) { return reduce(v, op, threads, line.value); }
  template <class Op> SIMT_MEMBER T Reduce(T v, Op op, int valid, CUB_LINE) { return reduce(v, op, valid, line.value); }
  template <int N, class Op> SIMT_MEMBER T Reduce(T (&items)[N], Op op, CUB_LINE) { return reduce(ThreadReduce(items, op), op, threads, line.value); }
  SIMT_MEMBER T Sum(T v, CUB_LINE) { return reduce(v, ::cub::detail::Sum(), threads, line.value); }
  SIMT_MEMBER T Sum(T v, int valid, CUB_LINE) { return reduce(v, ::cub::detail::Sum(), valid, line.value); }
  template <int N> SIMT_MEMBER T Sum(T (&items)[N], CUB_LINE) { return reduce(ThreadReduce(items, ::cub::detail::Sum()), ::cub::detail::Sum(), threads, line.value); }
};

}  // namespace cub
