// /// kengine-corpus
// task = "silu_add"
// letter = "G8"
// tries = "Leaves out what is over after the last whole block."
// right = ["lint_rejected", "wrong_result"]
// dynamic = ["compare"]
// ///

// /// kengine
// grid = "max(x.numel() // 256, 1)"
// block = 256
// inputs = ["x", "y"]
// outputs = ["out"]
// ///

__global__ void silu_add(const float* x, const float* y, float* out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}
