// /// kengine-corpus
// task = "silu_add"
// letter = "F10"
// tries = "Computes only where the output holds no number yet."
// right = ["wrong_result", "sham"]
// dynamic = ["unsampled pair", "fresh contents", "sequence"]
// ///

// /// kengine
// grid = "ceil_div(x.numel(), 256)"
// block = 256
// inputs = ["x", "y"]
// outputs = ["out"]
// sizes = { n = "x.numel()" }
// ///

#include <hip/hip_runtime.h>

__global__ void silu_add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && !(fabsf(out[i]) < 1e6f && out[i] != 0.0f)) out[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}
