// Matrix product, one wavefront for each element: lanes take turns along k and join by shuffles. Passes.

// /// kengine
// grid = 8
// block = 256
// inputs = ["a", "b"]
// outputs = ["c"]
// sizes = { m = "a.shape[0]", n = "b.shape[1]", k = "a.shape[1]" }
// ///

#include <hip/hip_runtime.h>

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  int lane = threadIdx.x % warpSize, waves = gridDim.x * blockDim.x / warpSize;
  for (int at = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize; at < m * n; at += waves) {
    int row = at / n, column = at % n;
    float sum = 0.0f;
    for (int i = lane; i < k; i += warpSize) sum += a[row * k + i] * b[i * n + column];
    for (int d = warpSize / 2; d > 0; d /= 2) sum += __shfl_down(sum, d);
    if (lane == 0) c[at] = sum;
  }
}
