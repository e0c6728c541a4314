// Loading several items a thread. Where only `valid` items of the block are there, the rest keep what they held, or get
// a default.
#pragma once
#include "block_exchange.cuh"

namespace cub {

template <class I, class T, int N>
SIMT_MEMBER inline void LoadDirectBlocked(int tid, I from, T (&items)[N]) {
  for (int i = 0; i < N; ++i) items[i] = from[tid * N + i];
}
template <class I, class T, int N>
SIMT_MEMBER inline void LoadDirectBlocked(int tid, I from, T (&items)[N], int valid) {
  for (int i = 0; i < N; ++i)
    if (tid * N + i < valid) items[i] = from[tid * N + i];
}
template <class I, class T, int N, class D>
SIMT_MEMBER inline void LoadDirectBlocked(int tid, I from, T (&items)[N], int valid, D otherwise) {
  for (int i = 0; i < N; ++i) items[i] = otherwise;
  LoadDirectBlocked(tid, from, items, valid);
}
template <class T, int N>
SIMT_MEMBER inline void LoadDirectBlockedVectorized(int tid, T* from, T (&items)[N]) { LoadDirectBlocked(tid, from, items); }
template <int Threads, class I, class T, int N>
SIMT_MEMBER inline void LoadDirectStriped(int tid, I from, T (&items)[N]) {
  for (int i = 0; i < N; ++i) items[i] = from[i * Threads + tid];
}
template <int Threads, class I, class T, int N>
SIMT_MEMBER inline void LoadDirectStriped(int tid, I from, T (&items)[N], int valid) {
  for (int i = 0; i < N; ++i)
    if (i * Threads + tid < valid) items[i] = from[i * Threads + tid];
}
template <int Threads, class I, class T, int N, class D>
SIMT_MEMBER inline void LoadDirectStriped(int tid, I from, T (&items)[N], int valid, D otherwise) {
  for (int i = 0; i < N; ++i) items[i] = otherwise;
  LoadDirectStriped<Threads>(tid, from, items, valid);
}

enum BlockLoadAlgorithm { BLOCK_LOAD_DIRECT, BLOCK_LOAD_STRIPED, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED };

template <class T, int X, int N, BlockLoadAlgorithm How = BLOCK_LOAD_DIRECT, int Y = 1, int Z = 1, int = 0>
class BlockLoad {
  static constexpr int threads = X * Y * Z;
  static constexpr bool by_warps = How == BLOCK_LOAD_WARP_TRANSPOSE || How == BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED;
  static constexpr bool exchanges = How == BLOCK_LOAD_TRANSPOSE || by_warps;
  using Exchange = BlockExchange<T, X, N, false, Y, Z>;
  struct Nothing { char simt_unused; };

 public:
  struct TempStorage : std::conditional_t<exchanges, typename Exchange::TempStorage, Nothing> {};

 private:
  TempStorage& storage_;
  template <class I, class... More>
  SIMT_MEMBER void load(I from, T (&items)[N], detail::Line line, More... more) {
    const int tid = static_cast<int>(simt::linear_thread());
    if constexpr (How == BLOCK_LOAD_STRIPED) LoadDirectStriped<threads>(tid, from, items, more...);
    else if constexpr (!exchanges) LoadDirectBlocked(tid, from, items, more...);
    else if constexpr (!by_warps) {
      LoadDirectStriped<threads>(tid, from, items, more...);
      Exchange(storage_).StripedToBlocked(items, line);
    } else {
      const int start = tid / SIMT_LANES * SIMT_LANES, width = threads - start < SIMT_LANES ? threads - start : SIMT_LANES;
      warp(from, items, start * N, width, more...);
      Exchange(storage_).WarpStripedToBlocked(items, line);
    }
  }
  template <class I>
  SIMT_MEMBER void warp(I from, T (&items)[N], int start, int width, int valid = threads * N) {
    for (int i = 0; i < N; ++i)
      if (start + i * width + simt::lane() < valid) items[i] = from[start + i * width + simt::lane()];
  }
  template <class I, class D>
  SIMT_MEMBER void warp(I from, T (&items)[N], int start, int width, int valid, D otherwise) {
    for (int i = 0; i < N; ++i) items[i] = otherwise;
    warp(from, items, start, width, valid);
  }

 public:
  SIMT_MEMBER BlockLoad() : storage_(detail::PrivateStorage<BlockLoad, TempStorage>::get()) {}
  SIMT_MEMBER BlockLoad(TempStorage& storage) : storage_(storage) {}
  template <class I> SIMT_MEMBER void Load(I from, T (&items)[N], CUB_LINE) { load(from, items, line); }
  template <class I> SIMT_MEMBER void Load(I from, T (&items)[N], int valid, CUB_LINE) { load(from, items, line, valid); }
  template <class I, class D> SIMT_MEMBER void Load(I from, T (&items)[N], int valid, D otherwise, CUB_LINE) { load(from, items, line, valid, static_cast<T>(otherwise)); }
};

}  // namespace cub
