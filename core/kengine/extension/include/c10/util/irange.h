#pragma once
#include "light/everything.h"

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
