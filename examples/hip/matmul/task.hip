// Product of two matrices, one thread for each element: the task that tiled.hip makes faster.

// /// kengine
// name = "matmul"
// category = "matmul"
// license = "Apache-2.0"
// grid = "ceil_div(m * n, 64)"
// block = 64
// inputs = ["a", "b"]
// outputs = ["c"]
// sizes = { m = "a.shape[0]", n = "b.shape[1]", k = "a.shape[1]" }
// params = { M = 32, N = 32, K = 64 }
//
// [arrays.a]
// dtype = "float32"
// shape = ["M", "K"]
//
// [arrays.b]
// dtype = "float32"
// shape = ["K", "N"]
//
// [arrays.c]
// dtype = "float32"
// shape = ["m", "n"]
//
// [[cases]]
// M = 32
// N = 32
// K = 64
//
// [[cases]]
// M = 33
// N = 17
// K = 50
// ///

#include <hip/hip_runtime.h>

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at >= m * n) return;
  float sum = 0.0f;
  for (int i = 0; i < k; ++i) sum += a[at / n * k + i] * b[i * n + at % n];
  c[at] = sum;
}
