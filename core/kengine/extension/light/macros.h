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
#define C10_USED __attribute__((used))
#define C10_NODISCARD [[nodiscard]]
#define C10_FALLTHROUGH [[fallthrough]]
#define C10_ALWAYS_INLINE_ATTRIBUTE __attribute__((always_inline))
#define C10_ALWAYS_INLINE_UNLESS_MOBILE C10_ALWAYS_INLINE
#define C10_ATTR_VISIBILITY_HIDDEN __attribute__((visibility("hidden")))
#define C10_ERASE C10_ALWAYS_INLINE C10_ATTR_VISIBILITY_HIDDEN
#define C10_HIDDEN C10_ATTR_VISIBILITY_HIDDEN
#define C10_HIP_HOST_DEVICE C10_HOST_DEVICE
#define C10_HAS_CPP_ATTRIBUTE(x) __has_cpp_attribute(x)
#define CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_HOST_CONSTEXPR_EXCEPT_WIN_CUDA constexpr
#define C10_API
#define C10_API_ENUM
#define C10_EXPORT
#define C10_IMPORT
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define C10_LIKELY(x) (__builtin_expect(static_cast<bool>(x), 1))
#define C10_UNLIKELY(x) (__builtin_expect(static_cast<bool>(x), 0))
#define C10_MACRO_EXPAND(...) __VA_ARGS__
#define C10_UID __COUNTER__
#define C10_STRINGIZE_(x) #x
#define C10_STRINGIZE(x) C10_STRINGIZE_(x)
#define C10_CONCATENATE_(a, b) a##b
#define C10_CONCATENATE(a, b) C10_CONCATENATE_(a, b)
#define C10_ANONYMOUS_VARIABLE(name) C10_CONCATENATE(name, __COUNTER__)
#define C10_DISABLE_COPY_AND_ASSIGN(name) name(const name&) = delete; name& operator=(const name&) = delete
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning)
#define C10_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_PUSH()
#define C10_CLANG_DIAGNOSTIC_POP()
#define C10_CLANG_DIAGNOSTIC_IGNORE(flag)
#ifdef USE_ROCM
#define C10_WARP_SIZE 64
#else
#define C10_WARP_SIZE 32
#endif
#define C10_WARP_SIZE_LOWER_BOUND C10_WARP_SIZE
#define C10_WARP_SIZE_UPPER_BOUND C10_WARP_SIZE
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((threads))
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
#define C10_MAX_THREADS_PER_BLOCK(n) ((n) <= 1024 ? (n) : 256)
#define C10_MIN_BLOCKS_PER_SM(threads, blocks) ((threads) * (blocks) <= 2048 ? (blocks) : (2048 + (threads) - 1) / (threads))
// Checks of device code, with NDEBUG as without.
#if defined(__HIP_DEVICE_COMPILE__)
#define LIGHT_STOP(text) __builtin_trap()
#elif defined(__CUDACC_RTC__) || (defined(__CUDA_ARCH__) && !defined(SIMT_LANES))
#define LIGHT_STOP(text) __trap()
#else
extern "C" void __assert_fail(const char*, const char*, unsigned int, const char*) noexcept __attribute__((noreturn));
#define LIGHT_STOP(text) __assert_fail(text, __FILE__, __LINE__, __func__)
#endif
#define CUDA_KERNEL_ASSERT(condition) if (C10_UNLIKELY(!(condition))) { LIGHT_STOP(#condition); }
#define CUDA_KERNEL_ASSERT_MSG(condition, text) if (C10_UNLIKELY(!(condition))) { LIGHT_STOP(text); }
#define CUDA_KERNEL_ASSERT_PRINTF(condition, text, ...) if (C10_UNLIKELY(!(condition))) { printf(text "\n", ##__VA_ARGS__); LIGHT_STOP(#condition); }
#define CUDA_KERNEL_ASSERT_VERBOSE(condition, ...) CUDA_KERNEL_ASSERT(condition)
#define CUDA_KERNEL_ASSERT2(condition) CUDA_KERNEL_ASSERT(condition)
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
