// Rearranging the items of a block's threads through shared memory. Blocked: a thread's items are neighbours. Striped:
// they lie a block (or a warp) apart.
#pragma once
#include "../util_ptx.cuh"

namespace cub {

template <class T, int X, int N, bool = false, int Y = 1, int Z = 1, int = 0>
class BlockExchange {
  static constexpr int threads = X * Y * Z;

 public:
  struct TempStorage { Uninitialized<T> simt_items[threads * N]; };

 private:
  TempStorage& storage_;
  SIMT_MEMBER static int tid() { return static_cast<int>(simt::linear_thread()); }
  SIMT_MEMBER static int blocked(int i) { return tid() * N + i; }
  SIMT_MEMBER static int striped(int i) { return i * threads + tid(); }
  SIMT_MEMBER static int warp_size() { const int rest = threads - tid() / SIMT_LANES * SIMT_LANES; return rest < SIMT_LANES ? rest : SIMT_LANES; }
  SIMT_MEMBER static int warp_striped(int i) { return tid() / SIMT_LANES * SIMT_LANES * N + i * warp_size() + simt::lane(); }
  template <class From, class To, class Out, class Sync>
  SIMT_MEMBER void move(T (&in)[N], Out (&out)[N], From from, To to, Sync sync) {
    for (int i = 0; i < N; ++i) storage_.simt_items[from(i)].Alias() = in[i];
    sync();
    for (int i = 0; i < N; ++i) out[i] = storage_.simt_items[to(i)].Alias();
  }

 public:
  SIMT_MEMBER BlockExchange() : storage_(detail::PrivateStorage<BlockExchange, TempStorage>::get()) {}
  SIMT_MEMBER BlockExchange(TempStorage& storage) : storage_(storage) {}

#define CUB_BLOCK_SYNC [=] { simt_barrier(3, 0, line.value); }
#define CUB_WARP_SYNC [=] { simt_sync_warp(detail::mask_of(warp_size()), line.value); }
#define CUB_EXCHANGE(name, from, to, sync)                                                                      \
  template <class Out> SIMT_MEMBER void name(T (&in)[N], Out (&out)[N], CUB_LINE) { move(in, out, from, to, sync); } \
  SIMT_MEMBER void name(T (&items)[N], CUB_LINE) { move(items, items, from, to, sync); }
  CUB_EXCHANGE(StripedToBlocked, striped, blocked, CUB_BLOCK_SYNC)
  CUB_EXCHANGE(BlockedToStriped, blocked, striped, CUB_BLOCK_SYNC)
  CUB_EXCHANGE(WarpStripedToBlocked, warp_striped, blocked, CUB_WARP_SYNC)
  CUB_EXCHANGE(BlockedToWarpStriped, blocked, warp_striped, CUB_WARP_SYNC)
#undef CUB_EXCHANGE

  template <class Out, class Rank> SIMT_MEMBER void ScatterToBlocked(T (&in)[N], Out (&out)[N], Rank (&ranks)[N], CUB_LINE) { move(in, out, [&](int i) { return ranks[i]; }, blocked, CUB_BLOCK_SYNC); }
  template <class Out, class Rank> SIMT_MEMBER void ScatterToStriped(T (&in)[N], Out (&out)[N], Rank (&ranks)[N], CUB_LINE) { move(in, out, [&](int i) { return ranks[i]; }, striped, CUB_BLOCK_SYNC); }
  template <class Rank> SIMT_MEMBER void ScatterToBlocked(T (&items)[N], Rank (&ranks)[N], CUB_LINE) { ScatterToBlocked(items, items, ranks, line); }
  template <class Rank> SIMT_MEMBER void ScatterToStriped(T (&items)[N], Rank (&ranks)[N], CUB_LINE) { ScatterToStriped(items, items, ranks, line); }
#undef CUB_BLOCK_SYNC
#undef CUB_WARP_SYNC
};

}  // namespace cub
