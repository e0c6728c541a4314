#pragma once
#include "light/everything.h"

namespace at {
template <class T>
C10_HOST_DEVICE inline bool _isnan(T v) { return v != v; }
template <class T>
C10_HOST_DEVICE inline bool _isinf(T v) { return !(v != v) && (v - v) != (v - v); }
}  // namespace at
