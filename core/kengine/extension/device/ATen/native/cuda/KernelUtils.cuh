// Atomic additions that know the length of their array, and offsets into images, as torch's own kernels call them.
#pragma once
#include <ATen/cuda/Atomic.cuh>

namespace at::native {
template <class T, class I>
__device__ __forceinline__ void fastAtomicAdd(T* tensor, I index, const I numel, T value, bool fast_atomics) {
  (void)numel, (void)fast_atomics;
  gpuAtomicAddNoReturn(tensor + index, value);
}
__device__ __forceinline__ size_t idx(const size_t nc, const size_t height, const size_t width, const size_t h, const size_t w) { return (nc * height + h) * width + w; }
__device__ __forceinline__ size_t idx_cl(const size_t n, const size_t h, const size_t w, const size_t c, const size_t height, const size_t width, const size_t channel) {
  return ((n * height + h) * width + w) * channel + c;
}
}  // namespace at::native
