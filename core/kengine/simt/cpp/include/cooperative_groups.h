// Cooperative groups: blocks, tiles of a warp, coalesced lanes, and the whole grid in a cooperative launch.
#pragma once

namespace cooperative_groups {

namespace detail {
constexpr uint64_t mask_of(unsigned size) { return size >= 64 ? ~0ull : (1ull << size) - 1; }
template <class T, class F>
SIMT_INLINE T reduce(uint64_t mask, T v, F f, int line) { return simt::reduce(mask, v, [=](T a, T b) { return static_cast<T>(f(a, b)); }, line); }
template <class T, class F>
SIMT_RAW T scan(uint64_t mask, T v, F f, bool inclusive, int line) {
  const uint64_t* values;
  uint64_t met = simt_meet(mask, simt::to_bits(v), &values, simt::op_reduce, 0, line);
  T result{};
  bool first = true;
  for (int i = 0, own = simt::lane(); i < own + (inclusive ? 1 : 0); ++i)
    if ((met >> i) & 1) {
      T x = simt::from_bits<T>(values[i]);
      result = first ? x : static_cast<T>(f(result, x));
      first = false;
    }
  return result;
}
}  // namespace detail

// What lanes of one warp can do together. `mask` are the members.
class warp_lanes {
 protected:
  uint64_t mask_;
  unsigned rank_, size_;
  warp_lanes(uint64_t mask, unsigned rank, unsigned size) : mask_(mask), rank_(rank), size_(size) {}
  // The warp's lane of a member.
  SIMT_MEMBER int lane_of(unsigned rank) const {
    uint64_t rest = mask_;
    for (unsigned i = 0; i < rank; ++i) rest &= rest - 1;
    return rest ? __builtin_ctzll(rest) : simt::lane();
  }
  SIMT_MEMBER unsigned long long compact(uint64_t lanes) const {
    unsigned long long out = 0;
    unsigned k = 0;
    for (uint64_t rest = mask_; rest; rest &= rest - 1, ++k) out |= static_cast<unsigned long long>((lanes >> __builtin_ctzll(rest)) & 1) << k;
    return out;
  }

 public:
  SIMT_MEMBER unsigned thread_rank() const { return rank_; }
  SIMT_MEMBER unsigned size() const { return size_; }
  SIMT_MEMBER unsigned num_threads() const { return size_; }
  SIMT_MEMBER void sync(SIMT_LINE) const { simt_sync_warp(mask_, line); }
  template <class T> SIMT_MEMBER T shfl(T v, unsigned rank, SIMT_LINE) const { return simt::shuffle(mask_, v, lane_of(rank % size_), 0, line); }
  template <class T> SIMT_MEMBER T shfl_down(T v, unsigned d, SIMT_LINE) const { return simt::shuffle(mask_, v, rank_ + d < size_ ? lane_of(rank_ + d) : simt::lane(), 0, line); }
  template <class T> SIMT_MEMBER T shfl_up(T v, unsigned d, SIMT_LINE) const { return simt::shuffle(mask_, v, rank_ >= d ? lane_of(rank_ - d) : simt::lane(), 0, line); }
  template <class T> SIMT_MEMBER T shfl_xor(T v, unsigned m, SIMT_LINE) const { return simt::shuffle(mask_, v, (rank_ ^ m) < size_ ? lane_of(rank_ ^ m) : simt::lane(), 0, line); }
  SIMT_MEMBER int any(int p, SIMT_LINE) const { return simt::ballot(mask_, p, 0, line) != 0; }
  SIMT_MEMBER int all(int p, SIMT_LINE) const { return simt::ballot(mask_, !p, 0, line) == 0; }
  SIMT_MEMBER unsigned long long ballot(int p, SIMT_LINE) const { return compact(simt::ballot(mask_, p, 0, line)); }
  template <class T> SIMT_MEMBER unsigned long long match_any(T v, SIMT_LINE) const { return compact(simt::match_any(mask_, simt::to_bits(v), line)); }
  template <class T> SIMT_MEMBER unsigned long long match_all(T v, int& p, SIMT_LINE) const { return compact(simt::match_all(mask_, simt::to_bits(v), &p, line)); }
  SIMT_MEMBER uint64_t simt_mask() const { return mask_; }
};

class thread_block {
 public:
  SIMT_MEMBER static void sync(SIMT_LINE) { simt_barrier(3, 0, line); }
  SIMT_MEMBER static void barrier_arrive() {}
  SIMT_MEMBER static void barrier_wait(SIMT_LINE) { simt_barrier(3, 0, line); }
  SIMT_MEMBER static unsigned thread_rank() { return simt::linear_thread(); }
  SIMT_MEMBER static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  SIMT_MEMBER static unsigned num_threads() { return size(); }
  SIMT_MEMBER static dim3 group_index() { return dim3(blockIdx); }
  SIMT_MEMBER static dim3 thread_index() { return dim3(threadIdx); }
  SIMT_MEMBER static dim3 group_dim() { return blockDim; }
  SIMT_MEMBER static dim3 dim_threads() { return blockDim; }
};
SIMT_INLINE thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  SIMT_MEMBER static bool is_valid() { return true; }
  SIMT_MEMBER static void sync(SIMT_LINE) { simt_grid_sync(line); }
  SIMT_MEMBER static unsigned long long block_rank() { return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  SIMT_MEMBER static unsigned long long num_blocks() { return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z; }
  SIMT_MEMBER static unsigned long long thread_rank() { return block_rank() * thread_block::size() + simt::linear_thread(); }
  SIMT_MEMBER static unsigned long long size() { return num_blocks() * thread_block::size(); }
  SIMT_MEMBER static unsigned long long num_threads() { return size(); }
  SIMT_MEMBER static dim3 group_dim() { return gridDim; }
  SIMT_MEMBER static dim3 dim_blocks() { return gridDim; }
  SIMT_MEMBER static dim3 block_index() { return dim3(blockIdx); }
};
SIMT_INLINE grid_group this_grid() { return {}; }

template <unsigned N, class Parent = thread_block>
class thread_block_tile : public warp_lanes {
  unsigned group_, groups_;

 public:
  static_assert((N & (N - 1)) == 0 && N <= SIMT_LANES, "a tile has a power of two of lanes, at most a warp");
  SIMT_MEMBER thread_block_tile() : warp_lanes(detail::mask_of(N) << (simt::lane() / N * N), simt::lane() % N, N), group_(simt::linear_thread() / N), groups_((thread_block::size() + N - 1) / N) {}
  template <unsigned M>
  SIMT_MEMBER thread_block_tile(const thread_block_tile<M>& parent) : thread_block_tile() { group_ = parent.thread_rank() / N, groups_ = M / N; }
  SIMT_MEMBER unsigned meta_group_rank() const { return group_; }
  SIMT_MEMBER unsigned meta_group_size() const { return groups_; }
  SIMT_MEMBER static constexpr unsigned size() { return N; }
  SIMT_MEMBER static constexpr unsigned num_threads() { return N; }
};
template <unsigned N>
SIMT_INLINE thread_block_tile<N> tiled_partition(const thread_block&) { return {}; }
template <unsigned N, unsigned M, class P>
SIMT_INLINE thread_block_tile<N> tiled_partition(const thread_block_tile<M, P>& parent) {
  thread_block_tile<M> p = parent;
  return thread_block_tile<N>(p);
}

class coalesced_group : public warp_lanes {
 public:
  SIMT_MEMBER explicit coalesced_group(uint64_t mask)
      : warp_lanes(mask, static_cast<unsigned>(__builtin_popcountll(mask & ((1ull << simt::lane()) - 1))), static_cast<unsigned>(__builtin_popcountll(mask))) {}
  SIMT_MEMBER unsigned meta_group_rank() const { return 0; }
  SIMT_MEMBER unsigned meta_group_size() const { return 1; }
};
SIMT_INLINE coalesced_group coalesced_threads(SIMT_LINE) { return coalesced_group(simt_active(line)); }
template <class G>
SIMT_INLINE coalesced_group binary_partition(const G& g, bool p, SIMT_LINE) {
  uint64_t yes = simt::ballot(g.simt_mask(), p, 0, line);
  return coalesced_group(p ? yes : g.simt_mask() & ~yes);
}
template <class G, class T>
SIMT_INLINE coalesced_group labeled_partition(const G& g, T label, SIMT_LINE) { return coalesced_group(simt::match_any(g.simt_mask(), simt::to_bits(label), line)); }

// A tile whose size is known at run time only.
class thread_group : public warp_lanes {
  bool block_;

 public:
  SIMT_MEMBER thread_group(const thread_block&) : warp_lanes(0, thread_block::thread_rank(), thread_block::size()), block_(true) {}
  SIMT_MEMBER thread_group(uint64_t mask, unsigned rank, unsigned size) : warp_lanes(mask, rank, size), block_(false) {}
  template <unsigned N> SIMT_MEMBER thread_group(const thread_block_tile<N>& t) : warp_lanes(t.simt_mask(), t.thread_rank(), N), block_(false) {}
  SIMT_MEMBER void sync(SIMT_LINE) const { block_ ? static_cast<void>(simt_barrier(3, 0, line)) : simt_sync_warp(mask_, line); }
};
SIMT_INLINE thread_group tiled_partition(const thread_group&, unsigned n) {
  return thread_group(detail::mask_of(n) << (static_cast<unsigned>(simt::lane()) / n * n), static_cast<unsigned>(simt::lane()) % n, n);
}
template <class G> SIMT_INLINE void sync(const G& g, SIMT_LINE) { g.sync(line); }
template <class G> SIMT_INLINE unsigned thread_rank(const G& g) { return static_cast<unsigned>(g.thread_rank()); }
template <class G> SIMT_INLINE unsigned group_size(const G& g) { return static_cast<unsigned>(g.size()); }

template <class T = void> struct plus { template <class A> SIMT_MEMBER A operator()(A a, A b) const { return a + b; } };
template <class T = void> struct less { template <class A> SIMT_MEMBER A operator()(A a, A b) const { return b < a ? b : a; } };
template <class T = void> struct greater { template <class A> SIMT_MEMBER A operator()(A a, A b) const { return a < b ? b : a; } };
template <class T = void> struct bit_and { template <class A> SIMT_MEMBER A operator()(A a, A b) const { return a & b; } };
template <class T = void> struct bit_or { template <class A> SIMT_MEMBER A operator()(A a, A b) const { return a | b; } };
template <class T = void> struct bit_xor { template <class A> SIMT_MEMBER A operator()(A a, A b) const { return a ^ b; } };
template <class G, class T, class F> SIMT_INLINE T reduce(const G& g, T v, F f, SIMT_LINE) { return detail::reduce(g.simt_mask(), v, f, line); }
template <class G, class T, class F> SIMT_INLINE T inclusive_scan(const G& g, T v, F f, SIMT_LINE) { return detail::scan(g.simt_mask(), v, f, true, line); }
template <class G, class T> SIMT_INLINE T inclusive_scan(const G& g, T v, SIMT_LINE) { return detail::scan(g.simt_mask(), v, plus<>(), true, line); }
template <class G, class T, class F> SIMT_INLINE T exclusive_scan(const G& g, T v, F f, SIMT_LINE) { return detail::scan(g.simt_mask(), v, f, false, line); }
template <class G, class T> SIMT_INLINE T exclusive_scan(const G& g, T v, SIMT_LINE) { return detail::scan(g.simt_mask(), v, plus<>(), false, line); }

// The copy is made at once by the group's threads; wait is where the others may rely on it.
template <class G, class T>
SIMT_INLINE void memcpy_async(const G& g, T* to, const T* from, size_t bytes) {
  for (size_t i = g.thread_rank(); i < bytes / sizeof(T); i += g.size()) to[i] = from[i];
}
template <class G> SIMT_INLINE void wait(const G& g, SIMT_LINE) { g.sync(line); }
template <unsigned N, class G> SIMT_INLINE void wait_prior(const G& g, SIMT_LINE) { g.sync(line); }

}  // namespace cooperative_groups
