#pragma once
#include "light/cuda.h"

namespace at::cuda {
template <class T>
C10_HOST_DEVICE constexpr inline T ATenCeilDiv(T a, T b) { return (a + b - 1) / b; }
}  // namespace at::cuda
