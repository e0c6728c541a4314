// Storing several items a thread, the first `valid` of the block.
#pragma once
#include "block_exchange.cuh"

namespace cub {

template <class I, class T, int N>
SIMT_MEMBER inline void StoreDirectBlocked(int tid, I to, T (&items)[N]) {
  for (int i = 0; i < N; ++i) to[tid * N + i] = items[i];
}
template <class I, class T, int N>
SIMT_MEMBER inline void StoreDirectBlocked(int tid, I to, T (&items)[N], int valid) {
  for (int i = 0; i < N; ++i)
    if (tid * N + i < valid) to[tid * N + i] = items[i];
}
template <class T, int N>
SIMT_MEMBER inline void StoreDirectBlockedVectorized(int tid, T* to, T (&items)[N]) { StoreDirectBlocked(tid, to, items); }
template <int Threads, class I, class T, int N>
SIMT_MEMBER inline void StoreDirectStriped(int tid, I to, T (&items)[N], int valid = Threads * N) {
  for (int i = 0; i < N; ++i)
    if (i * Threads + tid < valid) to[i * Threads + tid] = items[i];
}

enum BlockStoreAlgorithm { BLOCK_STORE_DIRECT, BLOCK_STORE_STRIPED, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED };

template <class T, int X, int N, BlockStoreAlgorithm How = BLOCK_STORE_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockStore {
  static constexpr int threads = X * Y * Z;
  static constexpr bool by_warps = How == BLOCK_STORE_WARP_TRANSPOSE || How == BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED;
  static constexpr bool exchanges = How == BLOCK_STORE_TRANSPOSE || by_warps;
  using Exchange = BlockExchange<T, X, N, false, Y, Z>;
  struct Nothing { char simt_unused; };

 public:
  struct TempStorage : std::conditional_t<exchanges, typename Exchange::TempStorage, Nothing> {};

 private:
  TempStorage& storage_;
  template <class I>
  SIMT_MEMBER void store(I to, T (&items)[N], int valid, detail::Line line) {
    const int tid = static_cast<int>(simt::linear_thread());
    if constexpr (How == BLOCK_STORE_STRIPED) StoreDirectStriped<threads>(tid, to, items, valid);
    else if constexpr (!exchanges) StoreDirectBlocked(tid, to, items, valid);
    else if constexpr (!by_warps) {
      T moved[N];
      Exchange(storage_).BlockedToStriped(items, moved, line);
      StoreDirectStriped<threads>(tid, to, moved, valid);
    } else {
      T moved[N];
      Exchange(storage_).BlockedToWarpStriped(items, moved, line);
      const int start = tid / SIMT_LANES * SIMT_LANES, width = threads - start < SIMT_LANES ? threads - start : SIMT_LANES;
      for (int i = 0; i < N; ++i)
        if (start * N + i * width + simt::lane() < valid) to[start * N + i * width + simt::lane()] = moved[i];
    }
  }

 public:
  SIMT_MEMBER BlockStore() : storage_(detail::PrivateStorage<BlockStore, TempStorage>::get()) {}
  SIMT_MEMBER BlockStore(TempStorage& storage) : storage_(storage) {}
  template <class I> SIMT_MEMBER void Store(I to, T (&items)[N], CUB_LINE) { store(to, items, threads * N, line); }
  template <class I> SIMT_MEMBER void Store(I to, T (&items)[N], int valid, CUB_LINE) { store(to, items, valid, line); }
};

}  // namespace cub
