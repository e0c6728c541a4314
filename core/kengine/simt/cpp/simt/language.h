// Keywords, built-in variables, shared memory.
#pragma once

#ifndef SIMT_LANES
#define SIMT_LANES 32
#endif
#ifdef SIMT_HIP
#define __HIP__ 1
#define __HIPCC__ 1
#define __HIP_PLATFORM_AMD__ 1
#define __HIP_PLATFORM_HCC__ 1
#define __HIP_DEVICE_COMPILE__ 1
#define USE_ROCM 1
// What only a compile for the chip defines: code behind it is what the chip would run.
#define __AMDGCN__ 1
#define __AMDGPU__ 1
#define __AMDGCN_WAVEFRONT_SIZE__ SIMT_LANES
#define __AMDGCN_WAVEFRONT_SIZE SIMT_LANES
#if SIMT_LANES == 64
#define __GFX9__ 1
#define __gfx942__ 1
#else
#define __GFX11__ 1
#define __gfx1100__ 1
#endif
#else
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __NVCC__ 1
#define CUDART_VERSION 13000
#define CUDA_VERSION 13000
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#endif

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __cluster_dims__(...)
#define __block_size__(...)
#define __grid_constant__
#define __device_builtin__
#define __align__(n) __attribute__((aligned(n)))
#define __hip_dynamic_shared__

// Functions of these headers. In check mode a program's own memory accesses are instrumented; SIMT_RAW functions are
// not, and say what they touch by simt_note_*.
#define SIMT_INLINE static inline __attribute__((always_inline, unused))
#define SIMT_RAW static __attribute__((noinline, unused, no_sanitize("thread", "undefined")))
#ifdef SIMT_CHECK
#define SIMT_NOTE(call) call
#define SIMT_FAST SIMT_RAW
#else
#define SIMT_NOTE(call) ((void)0)
#define SIMT_FAST SIMT_INLINE
#endif
#define SIMT_LINE int line = __builtin_LINE()

// The built-in variables are constant for a thread, so they are declared constant: the compiler may keep them in
// registers over stores and calls. The runtime changes the objects behind them between threads.
extern "C" {
extern const uint3 threadIdx __asm__("simt_thread_index") __attribute__((visibility("hidden")));
extern const uint3 blockIdx __asm__("simt_block_index") __attribute__((visibility("hidden")));
extern const dim3 blockDim __asm__("simt_block_dim") __attribute__((visibility("hidden")));
extern const dim3 gridDim __asm__("simt_grid_dim") __attribute__((visibility("hidden")));
extern char* const simt_dynamic_shared __asm__("simt_dynamic_pointer") __attribute__((visibility("hidden")));
extern simt::Module simt_module __attribute__((visibility("hidden")));
}
static constexpr int warpSize = SIMT_LANES;

namespace simt {

#ifdef SIMT_CHECK
constexpr size_t redzone = 512;
#else
constexpr size_t redzone = 16;
#endif

struct SharedLink {
  __attribute__((no_sanitize("thread", "undefined"))) explicit SharedLink(SharedEntry& entry) {
    entry.next = simt_module.shared;
    simt_module.shared = &entry;
  }
};
template <SharedLink*>
struct Use {};

// One shared variable. The tag is a type local to the function that declares it, so that every instance of a template
// has its own. The storage lies between two red zones.
template <class T, class Tag>
struct SharedVariable {
  union Value {
    char bytes[sizeof(T)];
    T value;
    constexpr Value() : bytes{} {}
    ~Value() {}
  };
  struct Padded {
    char before[redzone];
    alignas(T) alignas(16) Value inner;
    char after[redzone];
    constexpr Padded() : before{}, inner(), after{} {}
  };
  static Padded storage;
  static SharedEntry entry;
  static SharedLink link;
  typedef Use<&link> use;
};
template <class T, class Tag>
typename SharedVariable<T, Tag>::Padded SharedVariable<T, Tag>::storage;
template <class T, class Tag>
SharedEntry SharedVariable<T, Tag>::entry = {storage.inner.bytes, sizeof(T), redzone, static_cast<unsigned>(alignof(std::remove_all_extents_t<T>)), Tag::simt_name(), Tag::simt_where(), nullptr};
template <class T, class Tag>
SharedLink SharedVariable<T, Tag>::link{entry};

}  // namespace simt

// __shared__ type name dims;  is rewritten to this.
#define SIMT_SHARED(name, dims, ...)                                            \
  typedef __VA_ARGS__ simt_type_##name dims;                                    \
  struct simt_tag_##name {                                                      \
    static constexpr const char* simt_name() { return #name; }                            \
    static constexpr const char* simt_where() { return __PRETTY_FUNCTION__; }             \
  };                                                                            \
  static simt_type_##name& name __attribute__((unused)) = ::simt::SharedVariable<simt_type_##name, simt_tag_##name>::storage.inner.value
// extern __shared__ type name[]dims;
#define SIMT_DYNAMIC(name, dims, ...)                                           \
  typedef __VA_ARGS__ simt_type_##name dims;                                    \
  simt_type_##name* const name __attribute__((unused)) = reinterpret_cast<simt_type_##name*>(simt_dynamic_shared)
// The same outside of a function: follows the pointer at each use.
#define SIMT_DYNAMIC_GLOBAL(name, dims, ...)                                    \
  typedef __VA_ARGS__ simt_type_##name dims;                                    \
  static simt_type_##name* const& name __attribute__((unused)) = reinterpret_cast<simt_type_##name* const&>(simt_dynamic_shared)
#define HIP_DYNAMIC_SHARED(type, name) SIMT_DYNAMIC(name, , type);
#define SIMT_RETURN return simt_early_exit()
