"""Honest code in which naive checkers see tricks: no rule may reject it."""

from __future__ import annotations

import textwrap

import pytest
from kengine.lint.rules import RULES
from kengine.lint.runner import RULE_FAILED, run
from kengine.model import Candidate, SourceFile, Target, Task
from kengine_triton.lint import RULES as TRITON

FUNCTION = Task("t", "function", "def reference(x, w): return x\ndef make_inputs(seed, device): return 1, 2\n")
MODULE = Task("m", "module", "class Model:\n    def forward(self, x): return x\n")
HEAD = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""
HONEST = {
    "atomics into zeros": """
def candidate(x, w):
    out = torch.zeros(1, device=x.device)
    kernel[(1,)](x, out, x.numel(), BLOCK=64)
    return out
""",
    "strided views of what the kernel wrote": """
def candidate(x, w):
    out = x.new_empty(x.shape[::-1])
    kernel[(1,)](x.contiguous(), out, x.numel(), BLOCK=64)
    return out.t().reshape(-1).view(x.shape), out[:, 0]
""",
    "autotune and heuristics as decorators": """
@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_stages=2) for b in (64, 128)], key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

def candidate(x, w):
    y = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel())
    return y
""",
    "launcher in a list, a loop, a partial and a dict": """
from functools import partial
STEPS = [kernel]
TABLE = {"a": partial(kernel.run, grid=(1,), warmup=False)}

def candidate(x, w):
    y = torch.empty_like(x)
    for step in STEPS:
        launcher = step[(1,)]
        launcher(x, y, x.numel(), BLOCK=64)
    TABLE["a"](x, y, x.numel(), BLOCK=64)
    return y
""",
    "jit helpers and unused kernels": """
@triton.jit
def helper(v):
    return v * 2

@triton.jit
def outer(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(x_ptr + i, helper(tl.load(x_ptr + i, mask=i < n)), mask=i < n)

@triton.jit
def left_over(x_ptr):
    pass

def candidate(x, w):
    y = x.clone()
    outer[(1,)](y, y.numel(), BLOCK=64)
    return y
""",
    "destination passing": """
def candidate(x, w, out):
    kernel[(1,)](x, out, x.numel(), BLOCK=64)
    return out
""",
    "registered operator": """
@torch.library.custom_op("mine::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

@double.register_fake
def _(x):
    return torch.empty_like(x)

def candidate(x, w):
    return torch.ops.mine.double(x)
""",
    "operator of an older library": """
lib = torch.library.Library("mine2", "DEF")
lib.define("double(Tensor x) -> Tensor")

def _double(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

lib.impl("double", _double, "CompositeExplicitAutograd")

def candidate(x, w):
    return torch.ops.mine2.double(x)
""",
    "triton_op with wrap_triton": """
@torch.library.triton_op("mine::scale", mutates_args={})
def scale(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    torch.library.wrap_triton(kernel)[(1,)](x, y, x.numel(), BLOCK=64)
    return y

def candidate(x, w):
    return scale(x)
""",
    "autograd function": """
class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = torch.empty_like(x)
        kernel[(1,)](x, y, x.numel(), BLOCK=64)
        return y

def candidate(x, w):
    return Double.apply(x)
""",
    "plans and workspaces in caches": """
from functools import lru_cache
_cache = {}

@lru_cache(maxsize=None)
def pick(n):
    return 64 if n < 4096 else 128

def candidate(x, w):
    key = (x.shape, x.dtype, x.device)
    workspace = _cache.setdefault(key, torch.empty_like(x))
    kernel[(1,)](x, workspace, x.numel(), BLOCK=pick(x.numel()))
    return workspace.clone()
""",
    "streams, guards and properties": """
def candidate(x, w):
    with torch.cuda.device(x.device), torch.no_grad():
        stream = torch.cuda.current_stream()
        count = torch.cuda.get_device_properties(x.device).multi_processor_count
        side = torch.cuda.Stream()
        side.wait_stream(stream)
        y = torch.empty_like(x)
        with torch.cuda.stream(side):
            kernel[(count,)](x, y, x.numel(), BLOCK=64)
        stream.wait_stream(side)
        return y
""",
    "SM count from triton's driver": """
def candidate(x, w):
    count = triton.runtime.driver.active.utils.get_device_properties(0)["multiprocessor_count"]
    y = torch.empty_like(x)
    kernel[(count,)](x, y, x.numel(), BLOCK=64)
    return y
""",
    "cuda graph over live inputs": """
def candidate(x, w):
    y = torch.empty_like(x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel[(1,)](x, y, x.numel(), BLOCK=64)
    graph.replay()
    return y
""",
    "optional import, checks that raise, tuning knobs": """
import os
try:
    import flash_attn
except ImportError:
    flash_attn = None
BLOCK = int(os.environ.get("BLOCK", "64"))

def candidate(x, w):
    assert x.is_cuda or True, "test and check the reference"
    if x.dim() != 2:
        raise ValueError("expected a matrix; see torch.compile")
    if x.data_ptr() % 16:
        pass
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=BLOCK)
    return y
""",
    "words in comments and strings": '''
# exec(base64.b64decode(...)); reference(x); sys._getframe(); import ctypes; torch.allclose = None
def candidate(x, w):
    """Calls no reference, no gc.get_objects, no os.fork, no torch.compile; a cache for a stream."""
    note = "torch.matmul = None; subprocess.run; socket"
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y
''',
    "benchmark left in the file": """
import time
import subprocess
import torch.utils.benchmark as benchmark

def bench():
    fast = torch.compile(lambda x: x * 2)
    start = time.perf_counter()
    subprocess.run(["nvidia-smi"])
    return start

def candidate(x, w):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

if __name__ == "__main__":
    bench()
""",
    "half precision and folding of parameters": """
def candidate(x, w):
    folded = (w @ w.t()).half()
    y = torch.empty_like(x)
    kernel[(1,)](x.to(torch.float16), y, x.numel(), BLOCK=64)
    return y.float()
""",
    "kernel from a factory": """
def make(op):
    @triton.jit
    def inner(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.arange(0, BLOCK)
        tl.store(y_ptr + i, op(tl.load(x_ptr + i, mask=i < n)), mask=i < n)
    return inner

RELU = make(tl.abs)

def candidate(x, w):
    y = torch.empty_like(x)
    RELU[(1,)](x, y, x.numel(), BLOCK=64)
    return y
""",
    "jit as a call": """
def body(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

compiled = triton.jit(body)

def candidate(x, w):
    y = torch.empty_like(x)
    compiled[(1,)](x, y, x.numel(), BLOCK=64)
    return y
""",
    "candidate bound by assignment": """
def _run(x, w):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

candidate = torch.no_grad()(_run)
""",
    "compatibility shim": """
if not hasattr(tl, "tanh"):
    tl.tanh = tl.math.tanh

def candidate(x, w):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y
""",
    "its own reference and test": """
def reference(x, w):
    return x * w

def make_inputs(seed, device):
    return torch.ones(3), torch.ones(3)

def candidate(x, w):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=64)
    return y

def test_candidate():
    assert torch.allclose(candidate(*make_inputs(0, "cpu")), reference(*make_inputs(0, "cpu")))
""",
}
MODULES = {
    "weights prepared in the constructor": """
class ModelNew(nn.Module):
    def __init__(self, n=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n, n))
        self.register_buffer("packed", (self.weight @ self.weight).contiguous())
        self.launch = kernel

    def _grid(self, meta):
        return (triton.cdiv(16, meta["BLOCK"]),)

    def forward(self, x):
        y = torch.empty_like(x)
        self.launch[self._grid](x, y, x.numel(), BLOCK=64)
        return y
""",
    "a copy of the task in the candidate's file": """
class Model(nn.Module):
    def forward(self, x):
        return torch.relu(x)

class ModelNew(Model):
    def forward(self, x):
        y = torch.empty_like(x)
        kernel[(1,)](x, y, x.numel(), BLOCK=64)
        return y

def get_inputs():
    return [torch.randn(4)]

def get_init_inputs():
    return []
""",
    "method and property": """
class ModelNew(nn.Module):
    @property
    def block(self):
        return 64

    def _call(self, x, y):
        kernel[(1,)](x, y, x.numel(), BLOCK=self.block)

    def forward(self, x):
        y = torch.empty_like(x)
        self._call(x, y)
        return y
""",
}


def rejected(text: str, entry: str, task: Task) -> list[str]:
    candidate = Candidate((SourceFile("k.py", HEAD + textwrap.dedent(text)),), entry)
    record = run(candidate, task, Target("triton", "interpret"), (*RULES, *TRITON))
    assert RULE_FAILED not in {f.code for f in record.findings}
    return [f"{f.code} line {f.line}: {f.message}" for f in record.findings if f.severity == "reject"]


@pytest.mark.parametrize("name", HONEST)
def test_functions(name: str) -> None:
    assert rejected(HONEST[name], "candidate", FUNCTION) == []


@pytest.mark.parametrize("name", MODULES)
def test_modules(name: str) -> None:
    assert rejected(MODULES[name], "ModelNew", MODULE) == []


def test_a_helper_file_of_the_candidate() -> None:
    files = (
        SourceFile("main.py", "from kernels import double\ndef candidate(x, w):\n    return double(x)\n"),
        SourceFile("kernels.py", HEAD + "def double(x):\n    kernel[(1,)](x, x, 4, BLOCK=64)\n    return x\n"),
    )
    record = run(Candidate(files, "candidate"), FUNCTION, Target("triton", "interpret"), (*RULES, *TRITON))
    assert [f for f in record.findings if f.severity == "reject"] == []


@pytest.mark.parametrize(
    "text",
    [
        "import numpy\nfrom kengine.testing import toy\n@toy.kernel\ndef add(p, x, out): out[p] = x[p]\n"
        "def candidate(x, w):\n    out = numpy.empty_like(x)\n    add[4](x, out)\n    return out\n",
        "import numpy as np\nfrom neuronxcc import nki\n@nki.jit\ndef candidate(x, w):\n    return x\n",
        "import torch\nfrom torch.utils.cpp_extension import load_inline\nmod = load_inline('m', cpp_sources='', "
        "cuda_sources='__global__ void k() {}', functions=['f'])\ndef candidate(x, w):\n    return mod.f(x, w)\n",
        "import cupy, torch\nk = cupy.RawKernel('extern \"C\" __global__ void k() {}', 'k')\n"
        "def candidate(x, w):\n    k((1,), (1,), (x,))\n    return x\n",
        "def candidate(x, w):\n    return [a * b for a, b in zip(x, w)]\n",
    ],
)
def test_the_core_is_silent_on_other_languages(text: str) -> None:
    record = run(Candidate((SourceFile("k.py", text),), "candidate"), FUNCTION, Target("other", "cpu"), RULES)
    assert [f.code for f in record.findings if f.severity == "reject"] == []
