// A matrix product that adds up in half precision. Expected: wrong_result.

// /// kengine
// inputs = ["a", "b"]
// outputs = ["c"]
// sizes = { m = "a.shape[0]", n = "b.shape[1]", k = "a.shape[1]" }
// grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
// block = [16, 16]
// ///

#include <cuda_fp16.h>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[16][16];
  __shared__ float right[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int column = blockIdx.x * 16 + threadIdx.x;
  __half sum = __float2half(0.0f);
  for (int start = 0; start < k; start += 16) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < k && column < n ? b[j * n + column] : 0.0f;
    __syncthreads();
    for (int t = 0; t < 16; ++t) sum = __hadd(sum, __float2half(left[threadIdx.y][t] * right[t][threadIdx.x]));
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = __half2float(sum);
}
