// Function objects for reductions and scans.
#pragma once
#include "../../cuda/functional"
#include "../util_type.cuh"

namespace cub {

namespace detail {
struct Sum { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return a + b; } };
struct Max { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return b > a ? b : a; } };
struct Min { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return b < a ? b : a; } };
}  // namespace detail

#ifdef CUB_HAS_OLD_NAMES
using detail::Sum;
using detail::Max;
using detail::Min;
struct Equality { template <class A, class B> SIMT_MEMBER bool operator()(const A& a, const B& b) const { return a == b; } };
struct Inequality { template <class A, class B> SIMT_MEMBER bool operator()(const A& a, const B& b) const { return a != b; } };
struct Difference { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return a - b; } };
struct Division { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return a / b; } };
#else
#define CUB_GONE_OPERATOR(name, instead)                                                    \
  struct name {                                                                             \
    template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { \
      static_assert(detail::never<A>, CUB_GONE(name, instead));                             \
      return a;                                                                             \
    }                                                                                       \
  };
CUB_GONE_OPERATOR(Sum, "cuda::std::plus<>{}")
CUB_GONE_OPERATOR(Max, "cuda::maximum<>{}")
CUB_GONE_OPERATOR(Min, "cuda::minimum<>{}")
CUB_GONE_OPERATOR(Equality, "cuda::std::equal_to<>{}")
CUB_GONE_OPERATOR(Inequality, "cuda::std::not_equal_to<>{}")
CUB_GONE_OPERATOR(Difference, "cuda::std::minus<>{}")
CUB_GONE_OPERATOR(Division, "cuda::std::divides<>{}")
#undef CUB_GONE_OPERATOR
#endif
// Pairs of an index and a value: of equal values the one with the lower index.
struct ArgMax { template <class P> SIMT_MEMBER P operator()(const P& a, const P& b) const { return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a; } };
struct ArgMin { template <class P> SIMT_MEMBER P operator()(const P& a, const P& b) const { return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a; } };
template <class B>
struct CastOp { template <class A> SIMT_MEMBER B operator()(A&& a) const { return static_cast<B>(a); } };

}  // namespace cub
