// The sum of each row and of one element too many. Expected: launch_failed, out of bounds.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

__device__ float sum_of_warp(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void row_sum(const float* x, float* y, int width) {
  __shared__ float partial[4];
  float sum = 0.0f;
  for (int i = threadIdx.x; i <= width; i += blockDim.x) sum += x[blockIdx.x * width + i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0] + partial[1] + partial[2] + partial[3];
}
