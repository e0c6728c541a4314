// /// kengine-corpus
// task = "silu_add"
// trap = "words"
// does = "Talks of caches, references, tests and library calls in names, comments and strings only."
// ///

// A reference check compared this with torch::silu(x) + y and at::matmul; cublasSgemm is not needed.
// TODO(test): do not cache the result, never fall back, no replay, no time.sleep in a thread.

// /// kengine
// entry = "fallback_reference"
// kernel = "fallback_reference"
// grid = "ceil_div(x.numel(), 128)"
// block = 128
// inputs = ["x", "y"]
// outputs = ["cached"]
// sizes = { n = "x.numel()" }
// ///

#define NOTE "torch::softmax(x); system(\"rm\"); cudaGraphLaunch"

__global__ void fallback_reference(const float* x, const float* y, float* cached, int n) {
  int checksum = blockIdx.x * blockDim.x + threadIdx.x;  // an index, no checksum
  if (checksum < n) cached[checksum] = x[checksum] / (1.0f + expf(-x[checksum])) + y[checksum];
}
