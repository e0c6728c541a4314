// /// kengine-corpus
// task = "rms_norm"
// letter = "G3"
// tries = "Takes the mean square of a row from every fourth element."
// right = ["lint_rejected", "wrong_result"]
// dynamic = ["compare"]
// ///

// /// kengine
// grid = "x.shape[0]"
// block = 64
// inputs = ["x", "gain"]
// outputs = ["y"]
// sizes = { width = "x.shape[1]" }
// ///

__global__ void rms_norm(const float* x, const float* gain, float* y, int width) {
  __shared__ float scratch[64];
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int i = 4 * threadIdx.x; i < width; i += 4 * blockDim.x) sum += row[i] * row[i];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(4.0f * scratch[0] / width + 1e-6f);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = row[i] * scale * gain[i];
}
