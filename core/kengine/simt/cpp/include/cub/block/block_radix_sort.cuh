// Sorting the keys of a block, stable, with values that follow them. The order is that of radix sorts: by the bits from
// begin_bit to end_bit of the key as an unsigned number that orders alike; both zeros are equal.
#pragma once
#include "block_exchange.cuh"
#include "block_scan.cuh"

namespace cub {
namespace detail {
template <class K>
SIMT_INLINE uint64_t ordered_bits(const K& key) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &key, sizeof(K));
  const uint64_t sign = 1ull << (8 * sizeof(K) - 1), all = sign | (sign - 1);
  if constexpr (std::is_integral<K>::value || std::is_enum<K>::value) return std::is_signed<K>::value ? bits ^ sign : bits;
  if (bits == sign) bits = 0;
  return bits & sign ? ~bits & all : bits | sign;
}

// Places of `count` keys in the sorted order: a heap sort by one thread, stable because equal keys go by their places.
template <class K>
SIMT_RAW void order_keys(Uninitialized<K>* keys, int* places, int count, uint64_t mask, bool descending) {
  auto precedes = [=](int a, int b) {
    const uint64_t x = ordered_bits(keys[a].Alias()) & mask, y = ordered_bits(keys[b].Alias()) & mask;
    return x == y ? a < b : descending ? y < x : x < y;
  };
  for (int i = 0; i < count; ++i) places[i] = i;
  for (int start = count / 2 - 1, end = count; end > 1;) {
    int root = start, moved;
    if (start >= 0) {
      moved = places[start--];
    } else {
      root = 0;
      moved = places[--end];
      places[end] = places[0];
    }
    for (int child; (child = 2 * root + 1) < end; root = child) {
      if (child + 1 < end && precedes(places[child], places[child + 1])) ++child;
      if (!precedes(moved, places[child])) break;
      places[root] = places[child];
    }
    places[root] = moved;
  }
  simt_note_write(places, sizeof(int) * static_cast<size_t>(count));
}
}  // namespace detail

template <class K, int X, int N, class V = NullType, int = 4, bool = true, BlockScanAlgorithm = BLOCK_SCAN_WARP_SCANS, int = 4, int Y = 1, int Z = 1, int = 0>
class BlockRadixSort {
  static constexpr int threads = X * Y * Z, count = threads * N;
  static_assert(sizeof(K) <= 8, "keys have at most 8 bytes");

 public:
  struct TempStorage {
    Uninitialized<K> simt_keys[count];
    Uninitialized<V> simt_values[count];
    int simt_order[count];
  };

 private:
  TempStorage& storage_;
  SIMT_MEMBER static uint64_t bits(int begin, int end) { return detail::mask_of(end) & ~detail::mask_of(begin); }
  template <bool Striped>
  SIMT_MEMBER void sort(K (&keys)[N], V* values, int begin, int end, bool descending, int line) {
    const int tid = static_cast<int>(simt::linear_thread());
    for (int i = 0; i < N; ++i) {
      storage_.simt_keys[tid * N + i].Alias() = keys[i];
      if (values) storage_.simt_values[tid * N + i].Alias() = values[i];
    }
    simt_barrier(3, 0, line);
    if (tid == 0) detail::order_keys(storage_.simt_keys, storage_.simt_order, count, bits(begin, end), descending);
    simt_barrier(3, 0, line);
    for (int i = 0; i < N; ++i) {
      const int from = storage_.simt_order[Striped ? i * threads + tid : tid * N + i];
      keys[i] = storage_.simt_keys[from].Alias();
      if (values) values[i] = storage_.simt_values[from].Alias();
    }
  }

 public:
  SIMT_MEMBER BlockRadixSort() : storage_(detail::PrivateStorage<BlockRadixSort, TempStorage>::get()) {}
  SIMT_MEMBER BlockRadixSort(TempStorage& storage) : storage_(storage) {}

#define CUB_SORT(name, striped, descending)                                                                                     \
  SIMT_MEMBER void name(K (&keys)[N], int begin = 0, int end = 8 * sizeof(K), CUB_LINE) { sort<striped>(keys, nullptr, begin, end, descending, line.value); } \
  SIMT_MEMBER void name(K (&keys)[N], V (&values)[N], int begin = 0, int end = 8 * sizeof(K), CUB_LINE) { sort<striped>(keys, values, begin, end, descending, line.value); }
  CUB_SORT(Sort, false, false)
  CUB_SORT(SortDescending, false, true)
  CUB_SORT(SortBlockedToStriped, true, false)
  CUB_SORT(SortDescendingBlockedToStriped, true, true)
#undef CUB_SORT
};

}  // namespace cub
