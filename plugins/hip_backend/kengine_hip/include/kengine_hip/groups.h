// Cooperative groups, as far as HIP has them: blocks, tiles of a wavefront, coalesced lanes, the grid. No reduce, no scan.
#pragma once

namespace cooperative_groups {

class thread_block {
 public:
  KENGINE_MEMBER static void sync() { __syncthreads(); }
  KENGINE_MEMBER static unsigned thread_rank() { return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
  KENGINE_MEMBER static unsigned size() { return blockDim.x * blockDim.y * blockDim.z; }
  KENGINE_MEMBER static unsigned num_threads() { return size(); }
  KENGINE_MEMBER static dim3 group_index() { return blockIdx; }
  KENGINE_MEMBER static dim3 thread_index() { return threadIdx; }
  KENGINE_MEMBER static dim3 group_dim() { return blockDim; }
  KENGINE_MEMBER static bool is_valid() { return true; }
};
KENGINE_D thread_block this_thread_block() { return {}; }

class grid_group {
 public:
  KENGINE_MEMBER static bool is_valid() { return __ockl_grid_is_valid() != 0; }
  KENGINE_MEMBER static void sync() { __ockl_grid_sync(); }
  KENGINE_MEMBER static unsigned block_rank() { return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }
  KENGINE_MEMBER static unsigned num_blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  KENGINE_MEMBER static unsigned thread_rank() { return block_rank() * thread_block::size() + thread_block::thread_rank(); }
  KENGINE_MEMBER static unsigned size() { return num_blocks() * thread_block::size(); }
  KENGINE_MEMBER static dim3 group_dim() { return gridDim; }
};
KENGINE_D grid_group this_grid() { return {}; }

template <unsigned N, class Parent = thread_block>
class thread_block_tile {
  static_assert(N && (N & (N - 1)) == 0 && N <= KENGINE_WAVE, "a tile has a power of two of lanes, at most a wavefront");
  KENGINE_MEMBER static unsigned long long own(unsigned long long votes) {
    unsigned first = __lane_id() / N * N;
    return N == 64 ? votes : (votes >> first) & ((1ull << (N & 63)) - 1);
  }

 public:
  KENGINE_MEMBER static constexpr unsigned size() { return N; }
  KENGINE_MEMBER static constexpr unsigned num_threads() { return N; }
  KENGINE_MEMBER static unsigned thread_rank() { return __lane_id() % N; }
  KENGINE_MEMBER static unsigned meta_group_rank() { return thread_block::thread_rank() / N; }
  KENGINE_MEMBER static unsigned meta_group_size() { return (thread_block::size() + N - 1) / N; }
  KENGINE_MEMBER static void sync() { __syncwarp(); }
  template <class T> KENGINE_MEMBER T shfl(T v, int rank) const { return __shfl(v, rank, (int)N); }
  template <class T> KENGINE_MEMBER T shfl_down(T v, unsigned by) const { return __shfl_down(v, by, (int)N); }
  template <class T> KENGINE_MEMBER T shfl_up(T v, unsigned by) const { return __shfl_up(v, by, (int)N); }
  template <class T> KENGINE_MEMBER T shfl_xor(T v, unsigned mask) const { return __shfl_xor(v, (int)mask, (int)N); }
  KENGINE_MEMBER unsigned long long ballot(int p) const { return own(__ballot(p)); }
  KENGINE_MEMBER int any(int p) const { return ballot(p) != 0; }
  KENGINE_MEMBER int all(int p) const { return ballot(!p) == 0; }
};
template <unsigned N, class G> KENGINE_D thread_block_tile<N, G> tiled_partition(const G&) { return {}; }

class coalesced_group {
  unsigned long long mask_;

 public:
  KENGINE_MEMBER explicit coalesced_group(unsigned long long mask) : mask_(mask) {}
  KENGINE_MEMBER unsigned size() const { return (unsigned)__popcll(mask_); }
  KENGINE_MEMBER unsigned num_threads() const { return size(); }
  KENGINE_MEMBER unsigned thread_rank() const { return (unsigned)__popcll(mask_ & ((1ull << __lane_id()) - 1)); }
  KENGINE_MEMBER void sync() const { __syncwarp(); }
  KENGINE_MEMBER int lane(unsigned rank) const {
    unsigned long long rest = mask_;
    for (unsigned i = 0; i < rank; ++i) rest &= rest - 1;
    return rest ? __builtin_ctzll(rest) : (int)__lane_id();
  }
  template <class T> KENGINE_MEMBER T shfl(T v, unsigned rank) const { return kengine::read_lane(v, lane(rank % size())); }
  template <class T> KENGINE_MEMBER T shfl_down(T v, unsigned by) const { return thread_rank() + by < size() ? kengine::read_lane(v, lane(thread_rank() + by)) : v; }
  template <class T> KENGINE_MEMBER T shfl_up(T v, unsigned by) const { return thread_rank() >= by ? kengine::read_lane(v, lane(thread_rank() - by)) : v; }
  KENGINE_MEMBER int any(int p) const { return (__ballot(p) & mask_) != 0; }
  KENGINE_MEMBER int all(int p) const { return (__ballot(p) & mask_) == mask_; }
};
KENGINE_D coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

// A group whose kind is known at run time only: the block, or lanes of one wavefront.
class thread_group {
  unsigned size_, rank_;
  bool block_;

 public:
  KENGINE_MEMBER thread_group(const thread_block&) : size_(thread_block::size()), rank_(thread_block::thread_rank()), block_(true) {}
  template <unsigned N, class P>
  KENGINE_MEMBER thread_group(const thread_block_tile<N, P>&) : size_(N), rank_(__lane_id() % N), block_(false) {}
  KENGINE_MEMBER thread_group(unsigned n) : size_(n), rank_(__lane_id() % n), block_(false) {}
  KENGINE_MEMBER unsigned size() const { return size_; }
  KENGINE_MEMBER unsigned thread_rank() const { return rank_; }
  KENGINE_MEMBER void sync() const { if (block_) __syncthreads(); else __syncwarp(); }
  template <class T> KENGINE_MEMBER T shfl_down(T v, unsigned by) const { return __shfl_down(v, by, (int)size_); }
};
KENGINE_D thread_group tiled_partition(const thread_group&, unsigned n) { return thread_group(n); }
template <class G> KENGINE_D void sync(const G& g) { g.sync(); }
template <class G> KENGINE_D unsigned thread_rank(const G& g) { return g.thread_rank(); }
template <class G> KENGINE_D unsigned group_size(const G& g) { return g.size(); }

}  // namespace cooperative_groups
