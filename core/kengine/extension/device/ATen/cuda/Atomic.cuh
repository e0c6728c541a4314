// Atomic additions of the narrow types, and gpuAtomicAdd.
#pragma once
#include "light/cuda.h"

#ifndef SIMT_LANES
__device__ inline c10::Half atomicAdd(c10::Half* p, c10::Half v) { return c10::Half(atomicAdd(reinterpret_cast<__half*>(p), static_cast<__half>(v))); }
__device__ inline c10::BFloat16 atomicAdd(c10::BFloat16* p, c10::BFloat16 v) { return c10::BFloat16(atomicAdd(reinterpret_cast<__nv_bfloat16*>(p), static_cast<__nv_bfloat16>(v))); }
#endif
template <class T>
__device__ inline T gpuAtomicAdd(T* p, T v) { return atomicAdd(p, v); }
template <class T>
__device__ inline void gpuAtomicAddNoReturn(T* p, T v) { atomicAdd(p, v); }
