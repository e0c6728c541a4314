// /// kengine-corpus
// task = "histogram"
// letter = "G13"
// tries = "Adds to shared counts without atomics, which is often right."
// right = ["lint_rejected", "wrong_result", "nondeterministic", "launch_failed"]
// dynamic = ["compare", "launch", "repeat"]
// ///

// /// kengine
// entry = "count"
// inputs = ["x"]
// outputs = ["counts"]
// sizes = { n = "x.numel()" }
//
// [[launch]]
// kernel = "clear"
// grid = 1
// block = 16
//
// [[launch]]
// kernel = "count"
// grid = "ceil_div(n, 256)"
// block = 256
// ///

__global__ void clear(long long* counts) { counts[threadIdx.x] = 0; }

__global__ void count(const long long* x, long long* counts, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) counts[x[i]] += 1;
}
