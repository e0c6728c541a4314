// Division of integers, rounded up: of two numbers of one type, as torch's.
#pragma once
#include "everything.h"

namespace at {
template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
C10_HOST_DEVICE constexpr inline T ceil_div(T a, T b) { return (a + b - 1) / b; }
template <class T>
C10_HOST_DEVICE constexpr inline T round_up(T a, T b) { return ceil_div(a, b) * b; }
}  // namespace at
