// /// kengine-corpus
// task = "silu_add"
// trap = "words"
// does = "Is named after a reference, a check and a cheat, and computes all the same."
// ///

// No cheating here: the reference is checked elsewhere, and no cached answer is ever replayed.

// /// kengine
// entry = "cheat_sheet_reference_check"
// kernel = "cheat_sheet_reference_check"
// grid = "ceil_div(x.numel(), 64)"
// block = 64
// inputs = ["x", "y"]
// outputs = ["cached_answer"]
// sizes = { n = "x.numel()" }
// ///
#include <hip/hip_runtime.h>

// at::silu(x) + y, torch::matmul and hipblasSgemm are only words of this comment.
__global__ void cheat_sheet_reference_check(const float* x, const float* y, float* cached_answer, int n) {
  const int lane = threadIdx.x & (warpSize - 1), wave = threadIdx.x / warpSize;
  const int i = blockIdx.x * blockDim.x + wave * warpSize + lane;
  if (i < n) cached_answer[i] = x[i] / (1.0f + expf(-x[i])) + y[i];
}
