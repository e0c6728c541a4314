// Sum of a vector by one thread: the task that shuffles.hip makes faster.

// /// kengine
// name = "sum"
// category = "reduction"
// license = "Apache-2.0"
// grid = 1
// block = 1
// inputs = ["x"]
// outputs = ["total"]
// sizes = { n = "x.numel()" }
// params = { N = 1000 }
//
// [arrays.x]
// dtype = "float32"
// shape = ["N"]
//
// [arrays.total]
// dtype = "float32"
// shape = [1]
//
// [[cases]]
// N = 1000
//
// [[cases]]
// N = 4097
// ///

#include <hip/hip_runtime.h>

__global__ void add_up(const float* x, float* total, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) sum += x[i];
  *total = sum;
}
