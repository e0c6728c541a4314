// What every light header needs: the standard library's parts that torch's headers bring along, and markers of device code.
#pragma once
#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>
#ifndef LIGHT_FEW_HEADERS
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>
#endif

#define KENGINE_LIGHT_EXTENSION 1
// Functions of the glue library, and nothing else, are visible outside of an extension.
#define LIGHT_EXPORT __attribute__((visibility("default")))

#if defined(__CUDACC__) || defined(__HIPCC__)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_NOINLINE __attribute__((noinline))
#define C10_RESTRICT __restrict__
#define C10_UNUSED __attribute__((unused))
#define C10_API
#define C10_EXPORT
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
#define C10_STRINGIZE_(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_(x)
#define C10_CONCATENATE_(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_(a, b)
#define C10_ANONYMOUS_VARIABLE(name) C10_CONCATENATE(name, __COUNTER__)
#ifdef USE_ROCM
#define C10_WARP_SIZE 64
#else
#define C10_WARP_SIZE 32
#endif
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
#define C10_MAX_THREADS_PER_BLOCK(n) ((n) <= 1024 ? (n) : 256)
#ifndef TORCH_VERSION_MAJOR
#define TORCH_VERSION_MAJOR 2
#define TORCH_VERSION_MINOR 6
#define TORCH_VERSION_PATCH 0
#endif

namespace c10 {
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
template <class T>
using optional = std::optional<T>;
using std::string_view;
}  // namespace c10
namespace at {
using namespace c10;
}
namespace torch {
using namespace at;
}
