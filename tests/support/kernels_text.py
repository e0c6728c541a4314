"""RMSNorm in three shapes, and what people do to a kernel when they copy it; texts only."""

from __future__ import annotations

HEAD = "import torch\nimport triton\nimport triton.language as tl\n\n\n@triton.jit\n"
ONE_ROW = (
    HEAD
    + '''def kernel(x, w, y, N, eps, BLOCK_N: tl.constexpr):
    """One program takes one row."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    v = tl.load(x + row * N + cols, mask=mask, other=0.0).to(tl.float32)
    rms = tl.rsqrt(tl.sum(v * v, axis=0) / N + eps)
    g = tl.load(w + cols, mask=mask, other=0.0).to(tl.float32)
    tl.store(y + row * N + cols, (v * rms * g).to(tl.float16), mask=mask)


def candidate(x, w):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](x, w, y, x.shape[1], 1e-6, BLOCK_N=1024)
    return y
'''
)
BLOCKED = (
    HEAD
    + """def kernel(x, w, y, N, eps, BLOCK_N: tl.constexpr):
    row = tl.program_id(0)
    acc = 0.0
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)
        v = tl.load(x + row * N + cols, mask=cols < N, other=0.0).to(tl.float32)
        acc += tl.sum(v * v, axis=0)
    rms = tl.rsqrt(acc / N + eps)
    for off in range(0, N, BLOCK_N):
        cols = off + tl.arange(0, BLOCK_N)
        mask = cols < N
        v = tl.load(x + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        g = tl.load(w + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(y + row * N + cols, (v * rms * g).to(tl.float16), mask=mask)


def candidate(x, w):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](x, w, y, x.shape[1], 1e-6, BLOCK_N=1024)
    return y
"""
)
MULTI_ROW = (
    HEAD
    + """def kernel(x, w, y, M, N, eps, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.arange(0, BLOCK_N)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    offs = rows[:, None] * N + cols[None, :]
    v = tl.load(x + offs, mask=mask, other=0.0).to(tl.float32)
    rms = tl.rsqrt(tl.sum(v * v, axis=1) / N + eps)
    g = tl.load(w + cols, mask=cols < N, other=0.0).to(tl.float32)
    tl.store(y + offs, (v * rms[:, None] * g[None, :]).to(tl.float16), mask=mask)


def candidate(x, w):
    y = torch.empty_like(x)
    kernel[(triton.cdiv(x.shape[0], 4),)](x, w, y, x.shape[0], x.shape[1], 1e-6, BLOCK_M=4, BLOCK_N=1024)
    return y
"""
)
CUDA = """#include <cuda_runtime.h>
// one block a row
__global__ void rms(const float* x, float* y, int width) {
    __shared__ float part[256];
    float sum = 0.f;
    for (int i = threadIdx.x; i < width; i += blockDim.x) sum += x[blockIdx.x * width + i] * x[blockIdx.x * width + i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < 256; ++i) part[0] += part[i];
    }
    __syncthreads();
    float scale = rsqrtf(part[0] / width + 1e-6f);
    for (int i = threadIdx.x; i < width; i += blockDim.x) y[blockIdx.x * width + i] = x[blockIdx.x * width + i] * scale;
}
"""


def swap(code: str, one: str, other: str) -> str:
    """The code with two lines exchanged, each given by how it begins."""
    lines = code.split("\n")
    a, b = (next(n for n, line in enumerate(lines) if line.strip().startswith(text)) for text in (one, other))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)
