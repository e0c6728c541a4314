// The sum of each row by additions without an atomic. Expected: launch_failed, a data race.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

__global__ void row_sum(const float* x, float* y, int width) {
  if (threadIdx.x == 0) y[blockIdx.x] = 0.0f;
  __syncthreads();
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += x[blockIdx.x * width + i];
  y[blockIdx.x] += sum;
}
