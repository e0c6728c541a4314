// A matrix product whose threads add to one place without an atomic. Expected: launch_failed, a data race.

// /// kengine
// grid = ["ceil_div(b.shape[1], 16)", "ceil_div(a.shape[0], 16)"]
// block = [16, 16, 2]
// inputs = ["a", "b"]
// outputs = ["c"]
// sizes = { m = "a.shape[0]", n = "b.shape[1]", k = "a.shape[1]" }
// ///

#include <hip/hip_runtime.h>

constexpr int TILE = 16;

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, column = blockIdx.x * TILE + threadIdx.x;
  __shared__ float total[TILE][TILE];
  if (threadIdx.z == 0) total[threadIdx.y][threadIdx.x] = 0.0f;
  float sum = 0.0f;
  for (int start = 0; start < k; start += TILE) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    if (threadIdx.z == 0) left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
    if (threadIdx.z == 1) right[threadIdx.y][threadIdx.x] = j < k && column < n ? b[j * n + column] : 0.0f;
    __syncthreads();
    for (int t = threadIdx.z; t < TILE; t += 2) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
    __syncthreads();
  }
  total[threadIdx.y][threadIdx.x] += sum;
  __syncthreads();
  if (threadIdx.z == 0 && row < m && column < n) c[row * n + column] = total[threadIdx.y][threadIdx.x];
}
