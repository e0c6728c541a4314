// Reductions over the threads of a block, by the names of torch's own kernels.
#pragma once
#include <ATen/cuda/DeviceUtils.cuh>

namespace at::native::cuda_utils {
constexpr int kCUDABlockReduceNumThreads = 512;
constexpr int kCUDABlockReduceMaxThreads = C10_WARP_SIZE * C10_WARP_SIZE;
struct Block1D {
  static __forceinline__ __device__ int Tid() { return threadIdx.x; }
  static __forceinline__ __device__ int Warps() { return blockDim.x / C10_WARP_SIZE; }
};
struct Block2D {
  static __forceinline__ __device__ int Tid() { return threadIdx.x + threadIdx.y * blockDim.x; }
  static __forceinline__ __device__ int Warps() { return blockDim.x * blockDim.y / C10_WARP_SIZE; }
};
struct LightSum {
  template <class T> __forceinline__ __device__ T combine(T a, T b) const { return a + b; }
  template <class T> __forceinline__ __device__ T warp_shfl_down(T v, int offset) const { return WARP_SHFL_DOWN(v, offset); }
};
struct LightMax {
  template <class T> __forceinline__ __device__ T combine(T a, T b) const { return a != a || a > b ? a : b; }  // NaN stays
  template <class T> __forceinline__ __device__ T warp_shfl_down(T v, int offset) const { return WARP_SHFL_DOWN(v, offset); }
};
template <class T, class Op>
__inline__ __device__ T WarpReduce(T value, const Op& op) {
#pragma unroll
  for (int offset = C10_WARP_SIZE / 2; offset > 0; offset /= 2) value = op.combine(value, op.warp_shfl_down(value, offset));
  return value;
}
// The first thread gets the result. `shared` has an element for each warp; the block consists of whole warps.
template <class T, class Op, class B = Block1D>
__inline__ __device__ T BlockReduce(T value, const Op& op, const T& identity, T* shared) {
  const int tid = B::Tid(), lane = tid % C10_WARP_SIZE, warp = tid / C10_WARP_SIZE;
  value = WarpReduce(value, op);
  __syncthreads();
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = tid < B::Warps() ? shared[lane] : identity;
  if (warp == 0) value = WarpReduce(value, op);
  return value;
}
template <class T> __inline__ __device__ T WarpReduceSum(T value) { return WarpReduce(value, LightSum{}); }
template <class T> __inline__ __device__ T WarpReduceMax(T value) { return WarpReduce(value, LightMax{}); }
template <class T, class B = Block1D>
__inline__ __device__ T BlockReduceSum(T value, T* shared) { return BlockReduce<T, LightSum, B>(value, LightSum{}, T(0), shared); }
template <class T, class B = Block1D>
__inline__ __device__ T BlockReduceMax(T value, T* shared) { return BlockReduce<T, LightMax, B>(value, LightMax{}, T(0), shared); }
}  // namespace at::native::cuda_utils
