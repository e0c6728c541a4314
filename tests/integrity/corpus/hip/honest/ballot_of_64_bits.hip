// /// kengine-corpus
// task = "histogram"
// trap = "several kernels"
// does = "Counts with one vote for each value and wavefront, in masks of 64 bits, after a kernel that clears."
// ///

// /// kengine
// entry = "count"
// inputs = ["x"]
// outputs = ["counts"]
// sizes = { n = "x.numel()" }
//
// [[launch]]
// kernel = "clear"
// grid = 1
// block = 64
//
// [[launch]]
// kernel = "count"
// grid = "ceil_div(n, 256)"
// block = 256
// ///
#include <hip/hip_runtime.h>

__global__ void clear(long long* counts) {
  if (threadIdx.x < 16) counts[threadIdx.x] = 0;
}

__global__ void count(const long long* x, long long* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long value = i < n ? x[i] : -1;
  for (int bin = 0; bin < 16; ++bin) {
    unsigned long long mask = __ballot(value == bin);
    if (threadIdx.x % warpSize == 0 && mask != 0)
      atomicAdd((unsigned long long*)counts + bin, (unsigned long long)__popcll(mask));
  }
}
