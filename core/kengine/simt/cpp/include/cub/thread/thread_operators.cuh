// Function objects for reductions and scans.
#pragma once
#include "../util_type.cuh"

namespace cub {

struct Equality { template <class A, class B> SIMT_MEMBER bool operator()(const A& a, const B& b) const { return a == b; } };
struct Inequality { template <class A, class B> SIMT_MEMBER bool operator()(const A& a, const B& b) const { return a != b; } };
struct Sum { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return a + b; } };
struct Difference { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return a - b; } };
struct Division { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return a / b; } };
struct Max { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return b > a ? b : a; } };
struct Min { template <class A, class B> SIMT_MEMBER auto operator()(const A& a, const B& b) const { return b < a ? b : a; } };
// Pairs of an index and a value: of equal values the one with the lower index.
struct ArgMax { template <class P> SIMT_MEMBER P operator()(const P& a, const P& b) const { return b.value > a.value || (a.value == b.value && b.key < a.key) ? b : a; } };
struct ArgMin { template <class P> SIMT_MEMBER P operator()(const P& a, const P& b) const { return b.value < a.value || (a.value == b.value && b.key < a.key) ? b : a; } };
template <class B>
struct CastOp { template <class A> SIMT_MEMBER B operator()(A&& a) const { return static_cast<B>(a); } };

}  // namespace cub
