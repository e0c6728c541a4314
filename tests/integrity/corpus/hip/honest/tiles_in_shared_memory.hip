// /// kengine-corpus
// task = "matmul"
// trap = "destination"
// does = "Writes a product through shared tiles into the array that it is given."
// ///

// /// kengine
// inputs = ["a", "b"]
// outputs = ["c"]
// sizes = { m = "a.shape[0]", n = "b.shape[1]", k = "a.shape[1]" }
// grid = ["ceil_div(n, 16)", "ceil_div(m, 16)"]
// block = [16, 16]
// ///
#include <hip/hip_runtime.h>

__global__ void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[16][16];
  __shared__ float right[16][16];
  int row = blockIdx.y * 16 + threadIdx.y;
  int column = blockIdx.x * 16 + threadIdx.x;
  float sum = 0.0f;
  for (int start = 0; start < k; start += 16) {
    int i = start + threadIdx.x, j = start + threadIdx.y;
    left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0.0f;
    right[threadIdx.y][threadIdx.x] = j < k && column < n ? b[j * n + column] : 0.0f;
    __syncthreads();
    for (int t = 0; t < 16; ++t) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}
