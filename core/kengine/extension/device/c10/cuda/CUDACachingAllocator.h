// Memory of the device by its old names; nothing is cached here.
#pragma once
#include "light/cuda.h"

namespace c10::cuda::CUDACachingAllocator {
inline void* raw_alloc(size_t bytes) {
  void* p = nullptr;
  C10_CUDA_CHECK(cudaMalloc(&p, bytes));
  return p;
}
inline void* raw_alloc_with_stream(size_t bytes, cudaStream_t) { return raw_alloc(bytes); }
inline void raw_delete(void* p) { C10_CUDA_CHECK(cudaFree(p)); }
inline void emptyCache() {}
}  // namespace c10::cuda::CUDACachingAllocator
