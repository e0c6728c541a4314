import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <ATen/ceil_div.h>
#include <c10/cuda/CUDAException.h>

template <int BM, int BN, int BK, int TM, int TN>
__global__ __launch_bounds__((BM / TM) * (BN / TN)) void sgemm(int M, int N, int K, const float alpha, const float* A, const float* B, float beta, float* C) {
  __shared__ float sA[BK][BM + 1];
  __shared__ float sB[BK][BN];
  const int tid = threadIdx.x;
  constexpr int THREADS = (BM / TM) * (BN / TN);
  const int tr = tid / (BN / TN), tc = tid % (BN / TN);
  float acc[TM][TN] = {0.f};
  float rm[TM], rn[TN];
  const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
  for (int k0 = 0; k0 < K; k0 += BK) {
    for (int i = tid; i < BM * BK; i += THREADS) {
      int r = i / BK, c = i % BK;
      sA[c][r] = (row0 + r < M && k0 + c < K) ? A[(row0 + r) * K + k0 + c] : 0.f;
    }
    for (int i = tid; i < BK * BN; i += THREADS) {
      int r = i / BN, c = i % BN;
      sB[r][c] = (k0 + r < K && col0 + c < N) ? B[(k0 + r) * N + col0 + c] : 0.f;
    }
    __syncthreads();
    for (int k = 0; k < BK; ++k) {
#pragma unroll
      for (int i = 0; i < TM; ++i) rm[i] = sA[k][tr * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) rn[j] = sB[k][tc * TN + j];
#pragma unroll
      for (int i = 0; i < TM; ++i)
#pragma unroll
        for (int j = 0; j < TN; ++j) acc[i][j] += rm[i] * rn[j];
    }
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) {
      int r = row0 + tr * TM + i, c = col0 + tc * TN + j;
      if (r < M && c < N) C[r * N + c] = alpha * acc[i][j] + (beta != 0.f ? beta * C[r * N + c] : 0.f);
    }
}
at::Tensor gemm(const at::Tensor& a, const at::Tensor& b) {
  auto A = a.contiguous(), B = b.contiguous();
  const int M = A.size(0), K = A.size(1), N = B.size(1);
  auto C = at::empty({M, N}, A.options());
  constexpr int BM = 32, BN = 32, BK = 8, TM = 4, TN = 4;
  dim3 grid(at::ceil_div(N, BN), at::ceil_div(M, BM));
  sgemm<BM, BN, BK, TM, TN><<<grid, (BM / TM) * (BN / TN)>>>(M, N, K, 1.f, A.data_ptr<float>(), B.data_ptr<float>(), 0.f, C.data_ptr<float>());
  C10_CUDA_CHECK(cudaPeekAtLastError());
  return C;
}
"""
gemm = load_inline(name="gemm", cpp_sources=["#include <ATen/ATen.h>\nat::Tensor gemm(const at::Tensor& a, const at::Tensor& b);"], cuda_sources=[src], functions=["gemm"])


class ModelNew(nn.Module):
    def forward(self, a, b):
        return gemm.gemm(a, b)
