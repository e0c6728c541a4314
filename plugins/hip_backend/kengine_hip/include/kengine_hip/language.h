// Keywords, index variables, barriers and fences of HIP device code for a bare clang (no ROCm installation).
// KENGINE_WAVE, the lanes of a wavefront, comes from the command line.
#pragma once

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#ifndef __HIPCC__
#define __HIPCC__ 1
#endif
#define __HIP_CLANG_ONLY__ 1
#define USE_ROCM 1
#define HIP_VERSION_MAJOR 7
#define HIP_VERSION_MINOR 0
#define HIP_VERSION_PATCH 0
#define HIP_VERSION 70000000
#ifndef __AMDGCN_WAVEFRONT_SIZE__
#define __AMDGCN_WAVEFRONT_SIZE__ KENGINE_WAVE
#endif
#ifndef __AMDGCN_WAVEFRONT_SIZE
#define __AMDGCN_WAVEFRONT_SIZE KENGINE_WAVE
#endif

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __align__(n) __attribute__((aligned(n)))
#define __hip_pinned_shadow__
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
// The first argument is the most threads of a block, the second the least waves of an execution unit.
#define KENGINE_BOUNDS_1(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define KENGINE_BOUNDS_2(n, w) __attribute__((amdgpu_flat_work_group_size(1, n), amdgpu_waves_per_eu(w)))
#define KENGINE_BOUNDS_3(n, w, c) KENGINE_BOUNDS_2(n, w)
#define KENGINE_PICK(a, b, c, name, ...) name
#define __launch_bounds__(...) KENGINE_PICK(__VA_ARGS__, KENGINE_BOUNDS_3, KENGINE_BOUNDS_2, KENGINE_BOUNDS_1)(__VA_ARGS__)

// Functions of these headers: device only, or for host code too.
#define KENGINE_D static inline __attribute__((device, always_inline, unused))
#define KENGINE_HD static inline __attribute__((host, device, always_inline, unused))
#define KENGINE_MEMBER inline __attribute__((host, device, always_inline))

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __INT8_TYPE__ int8_t;
typedef __INT16_TYPE__ int16_t;
typedef __INT32_TYPE__ int32_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INTPTR_TYPE__ intptr_t;
typedef unsigned char uchar;
#ifndef NULL
#define NULL __null
#endif

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
  __host__ __device__ constexpr dim3(const uint3& v) : x(v.x), y(v.y), z(v.z) {}
};

// Index variables: each member reads a register or a word of the dispatch, so it is a property and not a value.
namespace kengine {
KENGINE_D unsigned blocks_of_grid(int axis) {
  return ((const __attribute__((address_space(4))) unsigned*)__builtin_amdgcn_implicitarg_ptr())[axis];
}
#define KENGINE_AXIS(name, expression)                    \
  __declspec(property(get = get_##name)) unsigned name;   \
  __attribute__((device, always_inline)) unsigned get_##name() const { return expression; }
#define KENGINE_INDEX(Type, X, Y, Z)                                                      \
  struct Type {                                                                           \
    KENGINE_AXIS(x, X) KENGINE_AXIS(y, Y) KENGINE_AXIS(z, Z)                              \
    __attribute__((device, always_inline)) operator dim3() const { return dim3(X, Y, Z); } \
    __attribute__((device, always_inline)) operator uint3() const { return {X, Y, Z}; }    \
  };
KENGINE_INDEX(ThreadIndex, __builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(), __builtin_amdgcn_workitem_id_z())
KENGINE_INDEX(BlockIndex, __builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(), __builtin_amdgcn_workgroup_id_z())
KENGINE_INDEX(BlockSize, __builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(), __builtin_amdgcn_workgroup_size_z())
KENGINE_INDEX(GridSize, blocks_of_grid(0), blocks_of_grid(1), blocks_of_grid(2))
}  // namespace kengine
extern const __device__ __attribute__((weak)) kengine::ThreadIndex threadIdx;
extern const __device__ __attribute__((weak)) kengine::BlockIndex blockIdx;
extern const __device__ __attribute__((weak)) kengine::BlockSize blockDim;
extern const __device__ __attribute__((weak)) kengine::GridSize gridDim;
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
static constexpr __device__ const int warpSize = KENGINE_WAVE;

extern "C" {
__device__ int __ockl_wgred_add_i32(int);
__device__ int __ockl_wgred_and_i32(int);
__device__ int __ockl_wgred_or_i32(int);
__device__ unsigned long long __ockl_steadyctr_u64();
__device__ unsigned long long __ockl_cyclectr_u64();
__device__ unsigned long long __ockl_dm_alloc(unsigned long long);
__device__ void __ockl_dm_dealloc(unsigned long long);
__device__ void __ockl_grid_sync();
__device__ unsigned __ockl_grid_is_valid();
__device__ int printf(const char*, ...);
}

KENGINE_D void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
KENGINE_D int __syncthreads_count(int p) { return __ockl_wgred_add_i32(p != 0); }
KENGINE_D int __syncthreads_and(int p) { return __ockl_wgred_and_i32(p != 0); }
KENGINE_D int __syncthreads_or(int p) { return __ockl_wgred_or_i32(p != 0); }
KENGINE_D void __threadfence() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }
KENGINE_D void __threadfence_block() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup"); }
KENGINE_D void __threadfence_system() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, ""); }
KENGINE_D long long clock64() { return (long long)__ockl_cyclectr_u64(); }
KENGINE_D long long clock() { return clock64(); }
KENGINE_D long long wall_clock64() { return (long long)__ockl_steadyctr_u64(); }
KENGINE_D void __nanosleep(unsigned) { __builtin_amdgcn_s_sleep(1); }
KENGINE_D void* malloc(size_t n) { return (void*)__ockl_dm_alloc(n); }
KENGINE_D void free(void* p) { __ockl_dm_dealloc((unsigned long long)p); }
// The compiler expands these itself: there is no library to call.
KENGINE_D void* memcpy(void* to, const void* from, size_t n) { __builtin_memcpy(to, from, n); return to; }
KENGINE_D void* memmove(void* to, const void* from, size_t n) { __builtin_memmove(to, from, n); return to; }
KENGINE_D void* memset(void* to, int v, size_t n) { __builtin_memset(to, v, n); return to; }
KENGINE_D void abort() { __builtin_trap(); }
KENGINE_D void __trap() { __builtin_trap(); }
extern "C" __device__ __attribute__((weak, noinline)) void __assert_fail(const char*, const char*, unsigned, const char*) { __builtin_trap(); }
#ifndef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assert_fail(#e, __FILE__, __LINE__, __func__))
#endif
#endif

// Loads and stores with a hint where to keep the line; the values are the same.
template <class T> KENGINE_D T __ldg(const T* p) { return *p; }
template <class T> KENGINE_D T __ldcg(const T* p) { return *p; }
template <class T> KENGINE_D T __ldca(const T* p) { return *p; }
template <class T> KENGINE_D T __ldcs(const T* p) { return *p; }
template <class T> KENGINE_D T __ldlu(const T* p) { return *p; }
template <class T> KENGINE_D T __ldcv(const T* p) { return *(const volatile T*)p; }
template <class T> KENGINE_D void __stcg(T* p, T v) { *p = v; }
template <class T> KENGINE_D void __stcs(T* p, T v) { *p = v; }
template <class T> KENGINE_D void __stwb(T* p, T v) { *p = v; }
template <class T> KENGINE_D void __stwt(T* p, T v) { *p = v; }

namespace kengine {
template <bool, class T = void> struct If {};
template <class T> struct If<true, T> { typedef T type; };
template <class T> constexpr bool is_arithmetic = __is_arithmetic(T);
template <class T> struct Identity { typedef T type; };
template <class T> using Exactly = typename Identity<T>::type;
template <class A, class B> using Common = decltype(true ? A() : B());
}  // namespace kengine
