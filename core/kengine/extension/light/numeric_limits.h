// Limits of element types in device code: the lowest and highest value, infinities where there are any.
#pragma once
#include "everything.h"

namespace at {
template <class T>
struct numeric_limits {
  static constexpr __host__ __device__ T lowest() { return std::numeric_limits<T>::lowest(); }
  static constexpr __host__ __device__ T max() { return std::numeric_limits<T>::max(); }
  static constexpr __host__ __device__ T lower_bound() { return std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : lowest(); }
  static constexpr __host__ __device__ T upper_bound() { return std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity() : max(); }
};
}  // namespace at
