// /// kengine-corpus
// task = "rms_norm"
// trap = "launchers"
// does = "A host function of a bare file chooses the block and launches."
// ///

// /// kengine
// entry = "run"
// inputs = ["x", "gain"]
// outputs = ["y"]
// sizes = { rows = "x.shape[0]", width = "x.shape[1]" }
// ///
#include <cuda_runtime.h>

template <int THREADS>
__global__ void rms_norm(const float* x, const float* gain, float* y, int width) {
  __shared__ float scratch[THREADS];
  const float* row = x + blockIdx.x * width;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += THREADS) sum += row[i] * row[i];
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = THREADS / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  float scale = rsqrtf(scratch[0] / width + 1e-6f);
  for (int i = threadIdx.x; i < width; i += THREADS) y[blockIdx.x * width + i] = row[i] * scale * gain[i];
}

void run(const float* x, const float* gain, float* y, int rows, int width) {
  if (width <= 128)
    rms_norm<32><<<rows, 32>>>(x, gain, y, width);
  else
    rms_norm<128><<<rows, 128>>>(x, gain, y, width);
}
