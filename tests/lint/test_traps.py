"""Honest code of every backend in which one could see a trick: nothing of it may be rejected."""
# ruff: noqa: E501 - specimens stand on one line each

from __future__ import annotations

import textwrap

import pytest
from kengine.lint.rules import RULES
from kengine.lint.runner import RULE_FAILED, run
from kengine.model import Candidate, SourceFile, Target, Task
from kengine_cuda.lint import RULES as CUDA
from kengine_hip.lint import RULES as HIP
from kengine_nki.lint import RULES as NKI
from kengine_triton.lint import RULES as TRITON

FUNCTION = Task("t", "function", "def reference(x, w): return x\ndef make_inputs(seed, device): return 1, 2\n")
MODULE = Task("m", "module", "class Model:\n    def forward(self, x): return x\n")
HEAD = """
import functools, math, os, torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)

@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, B: tl.constexpr):
    r = tl.program_id(0) * B + tl.arange(0, B)
    c = tl.program_id(1) * B + tl.arange(0, B)
    acc = tl.zeros((B, B), dtype=tl.float32)
    for k in range(0, K, B):
        s = k + tl.arange(0, B)
        acc += tl.dot(tl.load(a_ptr + r[:, None] * K + s), tl.load(b_ptr + s[:, None] * N + c))
    tl.store(c_ptr + r[:, None] * N + c, acc)
"""
TRITON_CODE = {
    "split-K partial buffers summed by a second kernel": """
        def candidate(x, w):
            parts = torch.empty((4, *x.shape), device=x.device)
            product[(4, 4)](x, w, parts, 64, 64, 64, B=16)
            y = torch.empty_like(x)
            kernel[(4,)](parts.sum(0), y, y.numel(), BLOCK=64)
            return y
        """,
    "fallback for another device with a real product kernel": """
        def candidate(a, b):
            if not a.is_cuda:
                return torch.matmul(a, b)
            c = torch.empty((a.shape[0], b.shape[1]), device=a.device)
            product[(4, 4)](a, b, c, *a.shape, b.shape[1], B=16)
            return c
        """,
    "folds two weights with the operator @": """
        def candidate(x, w1, w2):
            w = (w1 @ w2).contiguous()
            y = torch.empty_like(x)
            kernel[(4,)](x, y, w, BLOCK=64)
            return y
        """,
    "copies, gathers and index arithmetic of a packing task": """
        @triton.jit
        def pack(x_ptr, start_ptr, y_ptr, n, BLOCK: tl.constexpr):
            row = tl.program_id(0)
            start = tl.load(start_ptr + row)
            i = tl.arange(0, BLOCK)
            tl.store(y_ptr + row * BLOCK + i, tl.load(x_ptr + start + i, mask=i < n), mask=i < n)

        def candidate(x, lengths):
            starts = torch.cumsum(lengths, 0) - lengths
            y = torch.zeros((len(lengths), 64), device=x.device)
            pack[(len(lengths),)](x, starts, y, 64, BLOCK=64)
            return y
        """,
    "copy kernel of a transpose": """
        def candidate(x):
            y = torch.empty(x.shape[::-1], device=x.device, dtype=x.dtype)
            copy[(4,)](x.t().contiguous(), y, y.numel(), BLOCK=64)
            return y
        """,
    "scalars computed from sizes": """
        def candidate(x, w):
            scale = 1.0 / math.sqrt(x.shape[-1]) * 2
            blocks = (x.numel() + 63) // 64
            y = torch.empty_like(x)
            kernel[(blocks,)](x, y, x.numel(), scale, BLOCK=64)
            return y
        """,
    "in place, out argument, padding and views": """
        def candidate(x, w, out=None):
            padded = F.pad(x, (0, 3))
            out = torch.empty_like(padded) if out is None else out
            kernel[(4,)](padded, out, out.numel(), BLOCK=64)
            return out[..., : x.shape[-1]].contiguous()
        """,
    "several outputs": """
        def candidate(x, w):
            y, m = torch.empty_like(x), torch.empty(x.shape[0], device=x.device)
            kernel[(4,)](x, y, m, BLOCK=64)
            return y, m.unsqueeze(-1)
        """,
    "autograd function with a backward of operators": """
        class Op(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, w):
                ctx.save_for_backward(x, w)
                y = torch.empty_like(x)
                kernel[(4,)](x, y, x.numel(), BLOCK=64)
                return y
            @staticmethod
            def backward(ctx, grad):
                x, w = ctx.saved_tensors
                return grad @ w.t(), x.t() @ grad

        def candidate(x, w):
            return Op.apply(x, w)
        """,
    "raw pointers, current stream and guards": """
        def candidate(x, w):
            with torch.cuda.device(x.device):
                stream = torch.cuda.current_stream().cuda_stream
                if x.data_ptr() % 16 != 0:
                    x = x.clone()
                y = torch.empty_like(x)
                kernel[(4,)](x, y, x.numel(), BLOCK=64)
            return y
        """,
    "getattr of a dtype and of an option": """
        def candidate(x, w):
            dtype = getattr(torch, "float" + "32")
            y = torch.empty(x.shape, dtype=dtype, device=x.device)
            kernel[(4,)](x, y, x.numel(), BLOCK=getattr(w, "block", 64))
            return y
        """,
    "launcher in a table by dtype": """
        TABLE = {torch.float32: kernel, torch.float16: copy}

        def candidate(x, w):
            y = torch.empty_like(x)
            TABLE[x.dtype][(4,)](x, y, x.numel(), BLOCK=64)
            return y
        """,
    "launches in a loop over layers, alternating buffers": """
        def candidate(x, w):
            a, b = x.clone(), torch.empty_like(x)
            for step in range(4):
                kernel[(4,)](a, b, x.numel(), BLOCK=64)
                a, b = b, a
            return a
        """,
    "functools.partial of a launcher": """
        run = functools.partial(kernel[(4,)], BLOCK=64)

        def candidate(x, w):
            y = torch.empty_like(x)
            run(x, y, x.numel())
            return y
        """,
    "a guard for empty inputs": """
        def candidate(x, w):
            if x.numel() == 0:
                return torch.empty_like(x)
            y = torch.empty_like(x)
            kernel[(4,)](x, y, x.numel(), BLOCK=64)
            return y
        """,
    "adds the residual after the kernel": """
        def candidate(x, w):
            y = torch.empty_like(x)
            kernel[(4,)](x, y, x.numel(), BLOCK=64)
            return y + x
        """,
    "amax of the rows before a quantising kernel": """
        def candidate(x, w):
            scale = x.abs().amax(-1) / 127
            y = torch.empty(x.shape, dtype=torch.int8, device=x.device)
            kernel[(4,)](x, y, scale, BLOCK=64)
            return y, scale
        """,
    "words of tricks in names": """
        class Config:
            compile = True
            eval = 3

        def exec_plan(x):
            return x

        def candidate(x, w):
            config = Config()
            model_eval = config.eval
            y = exec_plan(torch.empty_like(x))
            kernel[(model_eval,)](x, y, x.numel(), BLOCK=64)
            return y
        """,
    "compiled regular expressions and format strings": """
        import re
        PATTERN = re.compile("a+b")

        def candidate(x, w):
            y = torch.empty_like(x)
            name = f"shape {x.shape} on {x.device}"
            kernel[(4,)](x, y, len(name), BLOCK=64)
            return y
        """,
    "a table computed by a kernel and cached by size": """
        @functools.lru_cache(maxsize=8)
        def table(n, device):
            t = torch.empty(n, device=device)
            copy[(4,)](torch.arange(n, device=device), t, n, BLOCK=64)
            return t

        def candidate(x, w):
            y = torch.empty_like(x)
            kernel[(4,)](x, y, table(x.shape[-1], x.device), BLOCK=64)
            return y
        """,
    "weights of layers go into the kernel": """
        class ModelNew(nn.Module):
            def __init__(self, n=64):
                super().__init__()
                self.fc = nn.Linear(n, n)
                self.norm = nn.BatchNorm1d(n)

            def forward(self, x):
                scale = self.norm.weight / torch.sqrt(self.norm.running_var + self.norm.eps)
                w = self.fc.weight * scale[:, None]
                y = torch.empty_like(x)
                product[(4, 4)](x, w.t().contiguous(), y, *x.shape, 64, B=16)
                return y
        """,
    "weights prepared on first use": """
        class ModelNew(nn.Module):
            def __init__(self, n=64):
                super().__init__()
                self.a, self.b = nn.Parameter(torch.randn(n, n)), nn.Parameter(torch.randn(n, n))
                self._folded = None

            def forward(self, x):
                if self._folded is None:
                    self._folded = torch.matmul(self.a, self.b)
                y = torch.empty_like(x)
                kernel[(4,)](x, y, self._folded, BLOCK=64)
                return y
        """,
    "a module of modules that launch": """
        class Scale(nn.Module):
            def forward(self, x):
                y = torch.empty_like(x)
                kernel[(4,)](x, y, x.numel(), BLOCK=64)
                return y

        class ModelNew(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Scale() for _ in range(3)])

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        """,
    "dropout in evaluation and a flatten": """
        class ModelNew(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)
                self.flat = nn.Flatten()

            def forward(self, x):
                y = torch.empty_like(x)
                kernel[(4,)](self.flat(x), y, x.numel(), BLOCK=64)
                return self.drop(y)
        """,
}
EXTENSION = '''
import torch
from torch.utils.cpp_extension import load_inline
SOURCE = r"""
#include <torch/extension.h>
#include <cuda_runtime.h>
%s
"""
lib = load_inline(name="e", cpp_sources="torch::Tensor forward(torch::Tensor x, torch::Tensor w);", cuda_sources=SOURCE,
                  functions=["forward"], extra_cuda_cflags=["-O3"])

def candidate(x, w):
    return lib.forward(x.contiguous(), w.contiguous())
'''
SCALE = "__global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2.f * x[i]; }\n"
FORWARD = """
torch::Tensor forward(torch::Tensor x, torch::Tensor w) {
  auto y = torch::empty_like(x);
  k<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
  return y;
}
"""
CPP = {
    "words of tricks in comments and strings": SCALE + '// at::mm(x, w); cublasSgemm(h); system("x")\n/* dlopen */\n'
    'static const char* NOTE = "torch::matmul(x, w) cublasSgemm(h); fork()";\n' + FORWARD,
    "dead branches": "#if 0\ntorch::Tensor old(torch::Tensor x) { return at::mm(x, x); }\n#endif\n" + SCALE + FORWARD,
    "an undefined switch": "#ifdef USE_CUBLAS\ntorch::Tensor slow(torch::Tensor x) { return at::mm(x, x); }\n#endif\n" + SCALE + FORWARD,
    "functions of one's own with the names of operators": "__device__ float softmax(float v) { return expf(v); }\n"
    "template <typename T> void matmul(const T* x, T* y, int n);\n" + SCALE.replace("2.f * x[i]", "softmax(x[i])")
    + "void linear(torch::Tensor x, torch::Tensor y) { k<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), 256); }\n"
    "torch::Tensor forward(torch::Tensor x, torch::Tensor w) { auto y = torch::empty_like(x); linear(x, y); return y; }\n",
    "a launch behind a macro and a template": "#define CEIL(a, b) (((a) + (b)-1) / (b))\n#define RUN(f, n, ...) f<<<CEIL(n, 256), 256>>>(__VA_ARGS__)\n"
    + SCALE + "template <int V> void go(torch::Tensor x, torch::Tensor y) { RUN(k, x.numel(), x.data_ptr<float>(), y.data_ptr<float>(), x.numel()); }\n"
    "torch::Tensor forward(torch::Tensor x, torch::Tensor w) { auto y = torch::zeros_like(x); go<4>(x, y); return y; }\n",
    "dispatch by type, guard, stream and checks": """
template <typename scalar_t> __global__ void k(const scalar_t* x, scalar_t* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > scalar_t(0) ? x[i] : scalar_t(0);
}
torch::Tensor forward(torch::Tensor x, torch::Tensor w) {
  TORCH_CHECK(x.is_cuda(), "needs cuda; torch::matmul does not");
  const c10::cuda::CUDAGuard guard(x.device());
  auto y = at::empty(x.sizes(), x.options());
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "relu", ([&] {
    k<scalar_t><<<(x.numel() + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), x.numel());
  }));
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return y;
}
""",
    "folds weights in C++": SCALE + "torch::Tensor forward(torch::Tensor x, torch::Tensor w) {\n  auto w2 = torch::mm(w, w.t());\n"
    "  auto y = torch::empty_like(x);\n  k<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), 256);\n  return y;\n}\n",
    "inline PTX, shared memory, cooperative groups": """
namespace cg = cooperative_groups;
__global__ void k(const float* x, float* y, int n) {
  extern __shared__ float tile[];
  auto block = cg::this_thread_block();
  float v;
  asm volatile("ex2.approx.f32 %0, %1;" : "=f"(v) : "f"(x[threadIdx.x]));
  tile[threadIdx.x] = v;
  block.sync();
  atomicAdd(y, tile[threadIdx.x]);
}
""" + FORWARD,
    "static workspace and attribute set once": SCALE + "torch::Tensor forward(torch::Tensor x, torch::Tensor w) {\n"
    "  static bool ready = false;\n  if (!ready) { cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536); ready = true; }\n"
    "  auto y = torch::empty_like(x);\n  k<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), 256);\n  return y;\n}\n",
    "registered by TORCH_LIBRARY": SCALE + FORWARD + "TORCH_LIBRARY(mine, m) { m.def(\"forward\", &forward); }\n",
    "a reduction of the partial sums": SCALE + "torch::Tensor forward(torch::Tensor x, torch::Tensor w) {\n  auto parts = torch::zeros({64}, x.options());\n"
    "  k<<<64, 256>>>(x.data_ptr<float>(), parts.data_ptr<float>(), 64);\n  return parts.sum() / x.numel();\n}\n",
    "cub and thrust for a scan": "#include <cub/cub.cuh>\n" + SCALE + "torch::Tensor forward(torch::Tensor x, torch::Tensor w) {\n  auto y = torch::empty_like(x);\n"
    "  cub::DeviceScan::InclusiveSum(nullptr, bytes, a, b, n);\n  k<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), 256);\n  return y;\n}\n",
}  # fmt: skip
OTHERS = {
    "cupy raw kernel with raw pointers": (CUDA, "cuda:cpu", """
        import cupy, torch
        SOURCE = r'extern "C" __global__ void k(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i] + 1; }'
        K = cupy.RawKernel(SOURCE, "k")

        def candidate(x, w):
            y = torch.empty_like(x)
            K((1,), (256,), (x.data_ptr(), y.data_ptr(), x.numel()))
            return y
        """),
    "cupy elementwise": (CUDA, "cuda:cpu", """
        import cupy, torch
        K = cupy.ElementwiseKernel("float32 x", "float32 y", "y = x * 2", "double")

        def candidate(x, w):
            return torch.from_dlpack(K(cupy.from_dlpack(x)))
        """),
    "hip extension": (HIP, "hip:gfx942", EXTENSION % (SCALE + FORWARD.replace("k<<<(x.numel() + 255) / 256, 256>>>(", "hipLaunchKernelGGL(k, dim3(4), dim3(256), 0, 0, "))),
    "nki kernel with padded inputs": (NKI, "nki:trn2", """
        import nki
        import nki.isa as nisa
        import nki.language as nl
        import numpy as np

        @nki.jit
        def double(x):
            y = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=t, src=x)
            nisa.activation(dst=t, op=nl.exp, data=t)
            nisa.dma_copy(dst=y, src=t)
            return y

        def candidate(x, w):
            folded = w @ w.T
            rows = x.shape[0]
            padded = np.pad(x, ((0, 128 - rows), (0, 0)))
            return double(np.ascontiguousarray(padded))[:rows]
        """),
}  # fmt: skip


def rejected(text: str, rules: tuple, target: str) -> list[str]:
    module = "class ModelNew" in text
    candidate = Candidate((SourceFile("k.py", text),), "ModelNew" if module else "candidate")
    record = run(candidate, MODULE if module else FUNCTION, Target.parse(target), (*RULES, *rules))
    assert RULE_FAILED not in {f.code for f in record.findings}, record.findings
    return [f"{f.code} line {f.line}: {f.message}" for f in record.findings if f.severity == "reject"]


@pytest.mark.parametrize("name", TRITON_CODE)
def test_triton(name: str) -> None:
    assert rejected(HEAD + textwrap.dedent(TRITON_CODE[name]), TRITON, "triton:interpret") == []


@pytest.mark.parametrize("name", CPP)
def test_extensions(name: str) -> None:
    text = EXTENSION % CPP[name]
    assert rejected(text, CUDA, "cuda:cpu") == []
    assert rejected(text.replace("cuda_runtime.h", "hip/hip_runtime.h"), HIP, "hip:gfx942") == []


@pytest.mark.parametrize("name", OTHERS)
def test_other_forms(name: str) -> None:
    rules, target, text = OTHERS[name]
    assert rejected(textwrap.dedent(text), rules, target) == []


MORE_TRITON = {
    "an output buffer of the module": """
        class ModelNew(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("out", torch.empty(64))

            def forward(self, x):
                kernel[(4,)](x, self.out, x.numel(), BLOCK=64)
                return self.out
        """,
    "a cached workspace asked for twice": """
        @functools.lru_cache(None)
        def workspace(n):
            return torch.empty(n)

        def candidate(x, w):
            kernel[(4,)](x, workspace(64), x.numel(), BLOCK=64)
            return workspace(64)
        """,
    "the tail copied by hand": """
        def candidate(x, w):
            y = torch.empty_like(x)
            kernel[(4,)](x, y, 64, BLOCK=64)
            tail = y[64:]
            tail.copy_(x[64:])
            torch.mul(x[:1], 2, out=y[:1])
            return y
        """,
    "views by other names": """
        def candidate(x, w):
            y = torch.empty_like(x)
            flat = y.squeeze_(0)
            rows = torch.atleast_2d(y)
            kernel[(4,)](x, flat, rows, x.numel(), BLOCK=64)
            return y
        """,
    "buffers in a list, a dictionary and a class": """
        class Buffers:
            def __init__(self, x):
                self.out = torch.empty_like(x)

        def candidate(x, w):
            buffers = Buffers(x)
            table = {"y": torch.empty_like(x)}
            several = []
            several.append(torch.empty_like(x))
            kernel[(4,)](x, buffers.out, x.numel(), BLOCK=64)
            kernel[(4,)](x, table["y"], x.numel(), BLOCK=64)
            kernel[(4,)](x, several[0], x.numel(), BLOCK=64)
            return buffers.out, table["y"], several[0]
        """,
    "a graph over live inputs in a module": """
        class ModelNew(nn.Module):
            def __init__(self):
                super().__init__()
                self.graph = None

            def _capture(self, x):
                self.input, self.output = x.clone(), torch.empty_like(x)
                self.graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(self.graph):
                    kernel[(4,)](self.input, self.output, x.numel(), BLOCK=64)

            def forward(self, x):
                if self.graph is None:
                    self._capture(x)
                self.input.copy_(x)
                self.graph.replay()
                return self.output.clone()
        """,
    "a generator of tiles and a launcher object": """
        class Launcher:
            def __init__(self, kernel):
                self.kernel = kernel

            def __call__(self, *args, **options):
                self.kernel[(4,)](*args, **options)

        launch = Launcher(kernel)

        def tiles(x):
            for start in range(0, x.numel(), 64):
                yield x.view(-1)[start : start + 64]

        def candidate(x, w):
            y = torch.empty_like(x)
            for tile, out in zip(tiles(x), tiles(y)):
                launch(tile, out, 64, BLOCK=64)
            return y
        """,
    "exceptions that are raised again": """
        def candidate(x, w):
            y = torch.empty_like(x)
            try:
                kernel[(4,)](x, y, x.numel(), BLOCK=64)
            except RuntimeError as error:
                raise RuntimeError("launch failed") from error
            return y
        """,
}


@pytest.mark.parametrize("name", MORE_TRITON)
def test_buffers_of_all_kinds(name: str) -> None:
    assert rejected(HEAD + textwrap.dedent(MORE_TRITON[name]), TRITON, "triton:interpret") == []


def test_names_of_libraries_on_kernels_of_ones_own() -> None:
    source = (
        "__global__ void cudnn_style_softmax(const float* x, float* y) { y[threadIdx.x] = expf(x[threadIdx.x]); }\n"
        "int cudaMallocHelper(int n);\nvoid kill(int x) {}\n"
        "torch::Tensor matmul(torch::Tensor a, torch::Tensor b);\n"
        "torch::Tensor forward(torch::Tensor x, torch::Tensor w) {\n  auto softmax = [&](torch::Tensor t) { return t; };\n"
        "  cudnn_style_softmax<<<1, 64>>>(x.data_ptr<float>(), w.data_ptr<float>());\n  kill(cudaMallocHelper(3));\n"
        "  return matmul(softmax(x), w);\n}\nint cudaMallocHelper(int n) { return n; }\n"
    )
    assert rejected(EXTENSION % source, CUDA, "cuda:cpu") == []
