import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

src = r"""
#include <torch/extension.h>
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void wmma_gemm(const half* A, const half* B, float* C, int M, int N, int K) {
  int wm = blockIdx.y * 16, wn = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k = 0; k < K; k += 16) {
    wmma::load_matrix_sync(a, A + wm * K + k, K);
    wmma::load_matrix_sync(b, B + k * N + wn, N);
    wmma::mma_sync(acc, a, b, acc);
  }
  wmma::store_matrix_sync(C + wm * N + wn, acc, N, wmma::mem_row_major);
}
torch::Tensor matmul3d(torch::Tensor A, torch::Tensor B) {
  auto a = A.to(torch::kHalf).reshape({-1, A.size(2)}).contiguous();
  auto b = B.to(torch::kHalf).contiguous();
  int M = a.size(0), K = a.size(1), N = b.size(1);
  TORCH_CHECK(M % 16 == 0 && N % 16 == 0 && K % 16 == 0);
  auto c = torch::empty({M, N}, A.options().dtype(torch::kFloat32));
  wmma_gemm<<<dim3(N / 16, M / 16), 32>>>(reinterpret_cast<half*>(a.data_ptr<at::Half>()), reinterpret_cast<half*>(b.data_ptr<at::Half>()), c.data_ptr<float>(), M, N, K);
  return c.view({A.size(0), A.size(1), N});
}
"""
ext = load_inline(name="mm3d", cpp_sources="torch::Tensor matmul3d(torch::Tensor A, torch::Tensor B);", cuda_sources=src, functions=["matmul3d"])


class ModelNew(nn.Module):
    def forward(self, A, B):
        return ext.matmul3d(A, B)
