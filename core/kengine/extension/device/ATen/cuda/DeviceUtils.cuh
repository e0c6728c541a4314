// Exchanges between the lanes of a warp, and loads, by the names of torch's own kernels.
#pragma once
#include "light/cuda.h"

#ifdef USE_ROCM
#define LIGHT_SHUFFLE(name, value, lane, width) __shfl##name(value, lane, width)
#else
#define LIGHT_SHUFFLE(name, value, lane, width) __shfl##name##_sync(mask, value, lane, width)
#endif
template <class T>
__device__ __forceinline__ T WARP_SHFL(T value, int lane, int width = C10_WARP_SIZE, unsigned int mask = 0xffffffff) { return LIGHT_SHUFFLE(, value, lane, width); }
template <class T>
__device__ __forceinline__ T WARP_SHFL_XOR(T value, int lane_mask, int width = C10_WARP_SIZE, unsigned int mask = 0xffffffff) { return LIGHT_SHUFFLE(_xor, value, lane_mask, width); }
template <class T>
__device__ __forceinline__ T WARP_SHFL_UP(T value, unsigned int delta, int width = C10_WARP_SIZE, unsigned int mask = 0xffffffff) { return LIGHT_SHUFFLE(_up, value, delta, width); }
template <class T>
__device__ __forceinline__ T WARP_SHFL_DOWN(T value, unsigned int delta, int width = C10_WARP_SIZE, unsigned int mask = 0xffffffff) { return LIGHT_SHUFFLE(_down, value, delta, width); }
#undef LIGHT_SHUFFLE
#ifdef USE_ROCM
__device__ __forceinline__ unsigned long long WARP_BALLOT(int predicate) { return __ballot(predicate); }
__device__ __forceinline__ unsigned long long ACTIVE_MASK() { return __ballot(1); }
__device__ __forceinline__ void WARP_SYNC() {}
#else
__device__ __forceinline__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffff) { return __ballot_sync(mask, predicate); }
__device__ __forceinline__ unsigned int ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned int mask = 0xffffffff) { __syncwarp(mask); }
#endif
template <class T>
__device__ __forceinline__ T doLdg(const T* p) { return __ldg(p); }
