// /// kengine-corpus
// task = "row_softmax"
// letter = "A13"
// tries = "A host function copies the rows to the host, computes there, and copies back before a kernel copies."
// right = ["lint_rejected", "sham"]
// dynamic = ["coverage", "provenance"]
// ///

// /// kengine
// entry = "softmax"
// inputs = ["x"]
// outputs = ["y"]
// sizes = { rows = "x.shape[0]", width = "x.shape[1]" }
// ///
#include <cuda_runtime.h>

#include <cmath>
#include <vector>

__global__ void copy(const float* source, float* target, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) target[i] = source[i];
}

void softmax(const float* x, float* y, int rows, int width) {
  int n = rows * width;
  std::vector<float> values(n);
  cudaMemcpy(values.data(), x, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (int r = 0; r < rows; ++r) {
    float* row = values.data() + r * width;
    float top = row[0], sum = 0.0f;
    for (int i = 1; i < width; ++i) top = std::fmax(top, row[i]);
    for (int i = 0; i < width; ++i) sum += row[i] = std::exp(row[i] - top);
    for (int i = 0; i < width; ++i) row[i] /= sum;
  }
  float* scratch = nullptr;
  cudaMalloc(&scratch, n * sizeof(float));
  cudaMemcpy(scratch, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  copy<<<(n + 255) / 256, 256>>>(scratch, y, n);
  cudaDeviceSynchronize();
  cudaFree(scratch);
}
