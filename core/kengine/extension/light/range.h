// Ranges of integers for loops, dimensions counted from the end, and loops that torch spreads over threads.
#pragma once
#include "tensor.h"

namespace c10 {
template <class I>
struct integer_range {
  struct iterator {
    I i;
    I operator*() const { return i; }
    iterator& operator++() { ++i; return *this; }
    bool operator!=(const iterator& o) const { return i != o.i; }
  };
  I first, last;
  iterator begin() const { return {first}; }
  iterator end() const { return {last < first ? first : last}; }
};
template <class I>
integer_range<I> irange(I end) { return {I(0), end}; }
template <class A, class I>
integer_range<I> irange(A begin, I end) { return {static_cast<I>(begin), end}; }
}  // namespace c10

namespace c10 {
inline int64_t maybe_wrap_dim(int64_t dim, int64_t rank, bool wrap_scalar = true) {
  if (rank == 0) {
    TORCH_CHECK_INDEX(wrap_scalar, "Dimension specified as ", dim, " but tensor has no dimensions");
    rank = 1;
  }
  TORCH_CHECK_INDEX(-rank <= dim && dim < rank, "Dimension out of range (expected to be in range of [", -rank, ", ", rank - 1, "], but got ", dim, ")");
  return dim < 0 ? dim + rank : dim;
}
}  // namespace c10

namespace c10 {
template <class Iterator>
inline int64_t multiply_integers(Iterator begin, Iterator end) {
  int64_t product = 1;
  for (; begin != end; ++begin) product *= static_cast<int64_t>(*begin);
  return product;
}
template <class Iterator>
inline int64_t sum_integers(Iterator begin, Iterator end) {
  int64_t sum = 0;
  for (; begin != end; ++begin) sum += static_cast<int64_t>(*begin);
  return sum;
}
template <class C>
inline int64_t multiply_integers(const C& all) { return multiply_integers(all.begin(), all.end()); }
template <class C>
inline int64_t sum_integers(const C& all) { return sum_integers(all.begin(), all.end()); }
inline int64_t size_to_dim_(int k, IntArrayRef sizes) { return multiply_integers(sizes.begin(), sizes.begin() + k); }
inline int64_t size_from_dim_(int k, IntArrayRef sizes) { return multiply_integers(sizes.begin() + k, sizes.end()); }
}  // namespace c10

namespace at {
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}
inline int64_t maybe_wrap_dim(int64_t dim, const Tensor& tensor) { return c10::maybe_wrap_dim(dim, tensor.dim()); }
using c10::maybe_wrap_dim;

// One thread does it all, in order.
template <class F>
inline void parallel_for(int64_t begin, int64_t end, int64_t, const F& f) {
  if (begin < end) f(begin, end);
}
template <class T, class F, class C>
inline T parallel_reduce(int64_t begin, int64_t end, int64_t, const T identity, const F& f, const C&) {
  return begin < end ? f(begin, end, identity) : identity;
}
inline int get_num_threads() { return 1; }
inline int get_thread_num() { return 0; }
inline bool in_parallel_region() { return false; }
inline int64_t divup(int64_t x, int64_t y) { return (x + y - 1) / y; }
namespace internal {
constexpr int64_t GRAIN_SIZE = 32768;
}
}  // namespace at
