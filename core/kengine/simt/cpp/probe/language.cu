// kengine's own use of what the emulator makes of the language: compiled to tell a compiler that does not understand it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace probe {
struct alignas(16) Quad {
  float v[4];
};
__constant__ float scale = 2.0f;
__device__ int total;

template <class T, int N>
__device__ T sum(const T (&v)[N]) {
  T s = v[0];
#pragma unroll
  for (int i = 1; i < N; ++i) s = s + v[i];
  return s;
}

template <class T>
__global__ void fill(T* out, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = value;
}
}  // namespace probe

__global__ void probe_values(float4* y, const float4* __restrict__ x, probe::Quad* q, double2* d, int n) {
  __shared__ float4 tile[64];
  __shared__ float plain[4][33], single;
  extern __shared__ unsigned char dynamic[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  tile[threadIdx.x] = x[i];
  plain[i & 3][i & 31] = __ldg(&x[i].x);
  if (threadIdx.x == 0) single = 1.0f;
  dynamic[i] = 0;
  __syncthreads();
  probe::Quad copy = q[i];
  copy.v[1] += probe::scale + single;
  q[i] = copy;
  d[i] = make_double2(sqrt(d[i].x), fma(d[i].y, 2.0, 1.0));
  float4 v = tile[threadIdx.x ^ 1];
  y[i] = make_float4(v.x + plain[0][0], rsqrtf(v.y), __expf(v.z), probe::sum(copy.v));
}

__global__ void probe_lanes(int* out, float* f, unsigned long long* wide, volatile int* flag) {
  float v = f[threadIdx.x];
  for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  v += __shfl_xor_sync(~0u, v, 1) + __shfl_sync(~0u, v, 0);
  if (__any_sync(~0u, v > 0)) atomicAdd(f, v);
  out[0] = __popc(__ballot_sync(~0u, v > 1)) + __clz(out[1]) + __ffs(out[2]);
  atomicMax(out + 1, 3);
  atomicCAS(out + 2, 0, 1);
  atomicExch(&probe::total, 1);
  atomicAdd(wide, 1ull);
  __syncwarp();
  __threadfence();
  if (flag[0]) flag[0] = 0;
}

__global__ void probe_halves(__half* h, __half2* pair, __nv_bfloat16* b) {
  h[0] = __float2half(__half2float(h[1]) + 1.0f) * h[2];
  pair[0] = __hfma2(pair[1], pair[2], pair[3]);
  b[0] = __float2bfloat16(__bfloat162float(b[1]));
}

void probe_launches(float* out, int* counts, cudaStream_t stream) {
  probe::fill<float><<<1, 64>>>(out, 1.0f, 64);
  probe::fill<<<dim3(1), dim3(64, 1), 0, stream>>>(counts, 1, 64);
  probe_lanes<<<1, 32>>>(counts, out, nullptr, nullptr);
}
