// /// kengine-corpus
// task = "silu_add"
// letter = "B4"
// tries = "Keeps its first answer of each size in device memory, and gives it again."
// right = ["lint_rejected", "wrong_result", "sham", "nondeterministic", "tampered"]
// dynamic = ["compare", "repeat", "fresh contents", "sequence"]
// ///

// /// kengine
// grid = "ceil_div(x.numel(), 256)"
// block = 256
// inputs = ["x", "y"]
// outputs = ["out"]
// sizes = { n = "x.numel()" }
// ///

__device__ float kept[7][8192];

__global__ void silu_add(const float* x, const float* y, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float* place = kept[n % 7] + i;
  if (*place == 0.0f) *place = x[i] / (1.0f + expf(-x[i])) + y[i];
  out[i] = *place;
}
