// A matrix product that adds up in half precision. Expected: wrong_result.

// /// kengine
// grid = ["ceil_div(b.shape[1], 16)", "ceil_div(a.shape[0], 16)"]
// block = [16, 16]
// inputs = ["a", "b"]
// outputs = ["c"]
// sizes = { m = "a.shape[0]", n = "b.shape[1]", k = "a.shape[1]" }
// ///

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

constexpr int TILE = 16;

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  __half sum = __float2half(0.0f);
  for (int start = 0; start < k; start += TILE) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < k && column < n ? b[j * n + column] : 0.0f;
    __syncthreads();
    for (int t = 0; t < TILE; ++t) sum = __hadd(sum, __float2half(left[threadIdx.y][t] * right[t][threadIdx.x]));
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = __half2float(sum);
}
