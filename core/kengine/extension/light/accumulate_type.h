// The types that kernels accumulate in. Torch's <torch/extension.h> has neither these nor those of the other small headers.
#pragma once
#include "everything.h"

namespace at {
template <class T, bool is_cuda> struct AccumulateType { using type = T; };
#define LIGHT_X(T, A, B)                                              \
  template <> struct AccumulateType<T, true> { using type = A; };     \
  template <> struct AccumulateType<T, false> { using type = B; };
LIGHT_X(c10::Half, float, float) LIGHT_X(c10::BFloat16, float, float) LIGHT_X(float, float, double) LIGHT_X(double, double, double)
LIGHT_X(int8_t, int64_t, int64_t) LIGHT_X(uint8_t, int64_t, int64_t) LIGHT_X(int16_t, int64_t, int64_t) LIGHT_X(int, int64_t, int64_t) LIGHT_X(int64_t, int64_t, int64_t)
LIGHT_X(bool, bool, bool)
#undef LIGHT_X
template <class T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;
}  // namespace at
