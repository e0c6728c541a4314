// The functions of <cmath> in a namespace, for device code.
#pragma once
#include "light/cuda.h"

#define LIGHT_MATH_1(name) \
  template <class T> __device__ __host__ inline T name(T x) { return ::name(x); }
#define LIGHT_MATH_2(name) \
  template <class T> __device__ __host__ inline T name(T x, T y) { return ::name(x, y); }
namespace c10::cuda::compat {
__device__ __host__ inline float abs(float x) { return ::fabsf(x); }
__device__ __host__ inline double abs(double x) { return ::fabs(x); }
LIGHT_MATH_1(exp) LIGHT_MATH_1(exp2) LIGHT_MATH_1(expm1) LIGHT_MATH_1(log) LIGHT_MATH_1(log1p) LIGHT_MATH_1(log2) LIGHT_MATH_1(log10)
LIGHT_MATH_1(sqrt) LIGHT_MATH_1(rsqrt) LIGHT_MATH_1(sin) LIGHT_MATH_1(cos) LIGHT_MATH_1(tan) LIGHT_MATH_1(tanh) LIGHT_MATH_1(sinh) LIGHT_MATH_1(cosh)
LIGHT_MATH_1(asin) LIGHT_MATH_1(acos) LIGHT_MATH_1(atan) LIGHT_MATH_1(erf) LIGHT_MATH_1(erfc) LIGHT_MATH_1(floor) LIGHT_MATH_1(ceil) LIGHT_MATH_1(trunc)
LIGHT_MATH_1(round) LIGHT_MATH_1(lgamma) LIGHT_MATH_1(normcdf) LIGHT_MATH_2(pow) LIGHT_MATH_2(fmod) LIGHT_MATH_2(copysign) LIGHT_MATH_2(atan2)
template <class T> __device__ __host__ inline T max(T x, T y) { return x < y ? y : x; }
template <class T> __device__ __host__ inline T min(T x, T y) { return y < x ? y : x; }
}  // namespace c10::cuda::compat
#undef LIGHT_MATH_1
#undef LIGHT_MATH_2
