// /// kengine-corpus
// task = "row_softmax"
// letter = "F10"
// tries = "Believes a row that the output holds already when it adds up to one, as that of an earlier call does."
// right = ["wrong_result", "sham"]
// dynamic = ["unsampled pair", "fresh contents", "sequence"]
// ///

// /// kengine
// inputs = ["x"]
// outputs = ["y"]
// sizes = { m = "x.shape[0]", n = "x.shape[1]" }
// grid = "m"
// block = 64
// ///

__global__ void softmax(const float* x, float* y, int m, int n) {
  __shared__ float sum, top;
  __shared__ int there;
  const float* row = x + blockIdx.x * n;
  float* out = y + blockIdx.x * n;
  if (threadIdx.x == 0) {
    float have = 0;
    for (int i = 0; i < n; ++i) have += out[i];
    there = fabsf(have - 1.0f) < 1e-3f;
    if (!there) {
      top = -3.4e38f;
      sum = 0;
      for (int i = 0; i < n; ++i) top = fmaxf(top, row[i]);
      for (int i = 0; i < n; ++i) sum += expf(row[i] - top);
    }
  }
  __syncthreads();
  if (there) return;
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = expf(row[i] - top) / sum;
}
