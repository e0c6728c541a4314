// Softmax that takes the matrix for one stored column by column. Expected: wrong_result.

// /// kengine
// grid = "x.shape[0]"
// block = 128
// inputs = ["x"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

__device__ float join(float value, float* scratch, bool largest) {
  scratch[threadIdx.x] = value;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      float other = scratch[threadIdx.x + half];
      scratch[threadIdx.x] = largest ? fmaxf(scratch[threadIdx.x], other) : scratch[threadIdx.x] + other;
    }
    __syncthreads();
  }
  float result = scratch[0];
  __syncthreads();
  return result;
}

__global__ void softmax(const float* x, float* y, int width) {
  __shared__ float scratch[128];
  const float* row = x + blockIdx.x;
  float top = -3.4e38f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) top = fmaxf(top, row[i * gridDim.x]);
  top = join(top, scratch, true);
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += expf(row[i * gridDim.x] - top);
  sum = join(sum, scratch, false);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = expf(row[i * gridDim.x] - top) / sum;
}
