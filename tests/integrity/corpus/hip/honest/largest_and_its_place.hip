// /// kengine-corpus
// task = "row_stats"
// trap = "destination"
// does = "Returns two outputs of one kernel; lanes exchange value and index by shuffles of their own width."
// ///

// /// kengine
// grid = "x.shape[0]"
// block = 64
// inputs = ["x"]
// outputs = ["sums", "places"]
// sizes = { width = "x.shape[1]" }
// ///
#include <hip/hip_runtime.h>

__global__ void row_stats(const float* x, float* sums, long long* places, int width) {
  __shared__ float total[64];
  __shared__ float best[64];
  __shared__ int where[64];
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f, top = -INFINITY;
  int place = 0;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    sum += row[i];
    if (row[i] > top) top = row[i], place = i;
  }
  for (int d = warpSize / 2; d > 0; d /= 2) {
    float other = __shfl_xor(top, d);
    int its = __shfl_xor(place, d);
    sum += __shfl_xor(sum, d);
    if (other > top || (other == top && its < place)) top = other, place = its;
  }
  total[threadIdx.x] = sum, best[threadIdx.x] = top, where[threadIdx.x] = place;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = warpSize; w < blockDim.x; w += warpSize) {
      sum += total[w];
      if (best[w] > top) top = best[w], place = where[w];
    }
    sums[blockIdx.x] = sum;
    places[blockIdx.x] = place;
  }
}
