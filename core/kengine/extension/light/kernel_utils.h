// Loops over a grid and the number of blocks for them, as torch's own kernels write them.
#pragma once
#include "cuda.h"

#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                                        \
  int64_t light_loop_##i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;                \
  for (index_type i = static_cast<index_type>(light_loop_##i); light_loop_##i < (n);                   \
       light_loop_##i += static_cast<int64_t>(blockDim.x) * gridDim.x, i = static_cast<index_type>(light_loop_##i))
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)

namespace at::cuda::detail {
constexpr int CUDA_NUM_THREADS = 1024;
inline int GET_BLOCKS(const int64_t n, const int64_t threads = CUDA_NUM_THREADS) {
  TORCH_INTERNAL_ASSERT(n > 0, "a kernel of ", n, " threads");
  const int64_t blocks = (n + threads - 1) / threads;
  TORCH_INTERNAL_ASSERT(blocks <= std::numeric_limits<int>::max(), "a grid of ", blocks, " blocks");
  return static_cast<int>(blocks);
}
}  // namespace at::cuda::detail
