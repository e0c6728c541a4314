// /// kengine-corpus
// task = "rms_norm"
// letter = "I6"
// tries = "Joins the sums of half a wavefront only, as if it had 32 lanes."
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
#include <hip/hip_runtime.h>

__global__ void rms_norm(const float* x, const float* gain, float* y, int width) {
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += row[i] * row[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor(sum, d, 32);
  float scale = rsqrtf(2.0f * __shfl(sum, 0) / width + 1e-6f);
  for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = row[i] * scale * gain[i];
}
