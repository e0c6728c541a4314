"""One or more specimens of each known way to get a verdict that the kernel did not earn, and the rule that sees it."""
# ruff: noqa: E501 - specimens stand on one line each

from __future__ import annotations

import textwrap

import pytest
from kengine import lint
from kengine.lint.rules import RULES
from kengine.lint.runner import RULE_FAILED, run
from kengine.model import Candidate, SourceFile, Target, Task, TaskSpec
from kengine_cuda.lint import RULES as CUDA
from kengine_triton.lint import RULES as TRITON

TASK = Task("t", "function", "def reference(x, w): return x @ w\ndef make_inputs(seed, device): return 1, 2\n")
MODULE = Task("m", "module", "class Model:\n    def forward(self, x): return x\n")
HEAD = """
import functools, operator, os, sys, torch
import torch.nn as nn
import torch.nn.functional as F
import triton
import triton.language as tl

@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 1.0, mask=i < n)

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""
COPY = "    y = torch.empty_like(t)\n    copy_kernel[(1,)](t, y, t.numel(), BLOCK=64)\n    return y\n"
LAUNCH = "    y = torch.empty_like(x)\n    kernel[(1,)](x, y, x.numel(), BLOCK=64)\n    return y\n"


def entry(line: str, rest: str = COPY, before: str = "") -> str:
    return f"{before}\ndef candidate(x, w):\n    {line}\n{rest}"


def native(body: str, before: str = "", kernel: str = "y[threadIdx.x] = x[threadIdx.x];") -> str:
    return (
        "from torch.utils.cpp_extension import load_inline\nSOURCE = r'''\n#include <torch/extension.h>\n" + before
        + "\n__global__ void k(const float* x, float* y) { " + kernel + " }\n"
        "torch::Tensor forward(torch::Tensor x, torch::Tensor w) {\n  auto y = torch::empty_like(x);\n"
        "  k<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>());\n" + body + "\n}\n'''\n"
        "lib = load_inline(name='e', cpp_sources='torch::Tensor forward(torch::Tensor x, torch::Tensor w);', "
        "cuda_sources=SOURCE, functions=['forward'])\ndef candidate(x, w):\n    return lib.forward(x, w)\n"
    )  # fmt: skip


REJECTED = {
    "A4 past the dispatcher": ("KE401", native("  return at::cpu::cumsum(x, 1);", kernel="y[threadIdx.x] = 2 * x[threadIdx.x];")),
    "A4 past the dispatcher, on the device": ("KE401", native("  return at::cuda::_softmax(x, 1, false);", kernel="y[threadIdx.x] = 2 * x[threadIdx.x];")),
    "A4 by its structure": ("KE401", native("  return at::_ops::addmm::call(x, x, w, 1, 1);")),
    "A1 kernel never called": ("KT101", entry("return torch.mm(x, w)", "")),
    "A3 copy of a product": ("KE126", entry("t = x @ w")),
    "A3 copy of a norm": ("KE126", entry("t = F.layer_norm(x, x.shape[-1:])")),
    "A3 copy of an activation": ("KE126", entry("t = F.gelu(x)")),
    "A3 product and a scaling kernel": ("KE126", entry("t = torch.matmul(x, w)", "    kernel[(1,)](t, t, 4, BLOCK=4)\n    return t\n")),
    "A3 layer and a copy": ("KE126", """
        class ModelNew(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Sequential(nn.Linear(4, 4), nn.GELU())
            def forward(self, x):
                t = self.fc(x)
                y = torch.empty_like(t)
                copy_kernel[(1,)](t, y, t.numel(), BLOCK=64)
                return y
        """),
    "A4 at:: in an extension": ("KE401", native("return at::matmul(x, w);")),
    "A4 cublas in an extension": ("KE402", native("cublasSgemm(h, 0, 0, 1, 1, 1, &a, x, 1, w, 1, &b, y, 1); return y;")),
    "A4 softmax with a copy kernel": ("KE401", native("return torch::softmax(x, -1);")),
    "A4 method": ("KE401", native("return x.matmul(w);")),
    "A4 alias of a namespace": ("KE401", native("return N::mm(x, w);", "namespace N = at;")),
    "A4 pointer to an operator": ("KE401", native("auto f = static_cast<at::Tensor (*)(const at::Tensor&, const at::Tensor&)>(at::mm); return f(x, w);")),
    "A4 hidden behind a macro with pasting": ("KE401", native("return AT(mat, mul)(x, w);", "#define AT(a, b) at::a##b")),
    "A4 spliced name": ("KE402", native("cub\\\nlasSgemm(h); return y;")),
    "A4 source in pieces": ("KE401", native("return at::matmul(x, w);").replace("SOURCE = r'''", "SOURCE = '' + r'''").replace("matmul(x, w);", "mat' 'mul(x, w);").replace("mat' 'mul", "mat''' + r'''mul")),
    "A4 cupy": ("KC107", "import cupy\nK = cupy.RawKernel('extern \"C\" __global__ void k(float* x) { x[0] = 1; }', 'k')\ndef candidate(x, w):\n    K((1,), (1,), (x,))\n    return cupy.matmul(x, w)\n"),
    "A6 compile": ("KE115", entry("t = torch.compile(torch.mm)(x, w)")),
    "A6 jit": ("KE115", entry("t = torch.jit.script(torch.mm)(x, w)")),
    "A7 custom operator of aten": ("KE126", entry("t = torch.ops.a.b(x, w)", before="@torch.library.custom_op('a::b', mutates_args=())\ndef b(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:\n    return x @ w")),
    "A7 library implementation": ("KE126", entry("t = torch.ops.a.prod(x, w)", before="L = torch.library.Library('a', 'DEF')\nL.define('prod(Tensor x, Tensor w) -> Tensor')\ndef prod(x, w):\n    return torch.mm(x, w)\nL.impl('prod', prod, 'CUDA')")),
    "A8 inherits": ("KE101", "class ModelNew(Model):\n    pass\n"),
    "A8 super().forward": ("KE101", "class ModelNew(Model):\n    def forward(self, x):\n        return super().forward(x)\n"),
    "A9 getattr in pieces": ("KE126", entry("t = getattr(torch, 'mat' + 'mul')(x, w)")),
    "A9 method by text": ("KE126", entry("t = getattr(x, '%s%s' % ('m', 'm'))(w)")),
    "A9 unbound method": ("KE126", entry("t = torch.Tensor.matmul(x, w)")),
    "A9 type(x)": ("KE126", entry("t = type(x).matmul(x, w)")),
    "A9 dunder": ("KE126", entry("t = x.__matmul__(w)")),
    "A9 operator module": ("KE126", entry("t = operator.matmul(x, w)")),
    "A9 methodcaller": ("KE126", entry("t = operator.methodcaller('mm', w)(x)")),
    "A9 partial": ("KE126", entry("t = functools.partial(torch.mm, x)(w)")),
    "A9 reduce": ("KE126", entry("t = functools.reduce(torch.mm, [x, w])")),
    "A9 star arguments": ("KE126", entry("t = torch.mm(*(x, w))")),
    "A9 table": ("KE126", entry("t = OPS['f'](x, w)", before="OPS = {'f': torch.mm}")),
    "A9 vars": ("KE126", entry("t = vars(torch)['m' 'm'](x, w)")),
    "A9 aten overload": ("KE126", entry("t = torch.ops.aten.mm.default(x, w)")),
    "A9 C functions": ("KE126", entry("t = torch._C._nn.linear(x, w)")),
    "A9 in place": ("KE126", entry("t = torch.zeros_like(x)\n    t.addmm_(x, w)")),
    "A9 base64": ("KE126", entry("t = getattr(torch, base64.b64decode('bW0=').decode())(x, w)", before="import base64")),
    "A9 walrus": ("KE126", entry("(t := x @ w)")),
    "A9 conditional": ("KE126", entry("t = (torch.mm if x.dim() == 2 else torch.bmm)(x, w)")),
    "A9 lambda": ("KE126", entry("t = (lambda a, b: a @ b)(x, w)")),
    "A9 closure": ("KE126", entry("def go():\n        return x @ w\n    t = go()")),
    "A9 loop over a list": ("KE126", entry("t = x\n    for f in (torch.mm,):\n        t = f(t, w)")),
    "A9 class attribute": ("KE126", entry("t = Ops.f(x, w)", before="class Ops:\n    f = torch.mm")),
    "A10 vendored import": ("KE116", entry("t = flash_attn.flash_attn_func(x, x, x)", before="import flash_attn")),
    "A13 numpy": ("KE126", entry("t = torch.from_numpy(np.matmul(x.cpu().numpy(), w.cpu().numpy()))", before="import numpy as np")),
    "A15 runtime install": ("KE108", entry("t = x", before="import subprocess\nsubprocess.run(['pip', 'install', 'x'])")),
    "A15 exec": ("KE106", entry("t = x", before="exec('import torch')")),
    "B2 cached entry": ("KE127", "@functools.lru_cache(None)\ndef candidate(x, w):\n" + LAUNCH),
    "B6 rebuilds inputs": ("KE101", "A = make_inputs(0, 'cpu')\ndef candidate(x, w):\n" + LAUNCH),
    "C3 subclass": ("KE113", "class T(torch.Tensor):\n    pass\ndef candidate(x, w):\n    return x.as_subclass(T)\n"),
    "C4 method on an instance": ("KE129", "def candidate(x, w):\n    y = torch.empty_like(x)\n    kernel[(1,)](x, y, 4, BLOCK=4)\n    y.double = lambda: x @ w\n    return y\n"),
    "D1 clock": ("KE301", "torch.cuda.Event.elapsed_time = lambda *a: 1e-3\ndef candidate(x, w):\n" + LAUNCH),
    "D1 clock in C": ("KE408", native("return y;", "extern \"C\" int cudaEventElapsedTime(float* ms, void* a, void* b) { *ms = 0; return 0; }")),
    "D2 comparison": ("KE105", "setattr(torch, 'all' + 'close', lambda *a, **k: True)\ndef candidate(x, w):\n" + LAUNCH),
    "D3 main module": ("KE105", "sys.modules['__main__'].check = None\ndef candidate(x, w):\n" + LAUNCH),
    "D3 code object": ("KE105", "import json\njson.dumps.__code__ = None\ndef candidate(x, w):\n" + LAUNCH),
    "D5 exit": ("KE108", "def candidate(x, w):\n    os._exit(0)\n"),
    "D6 descriptors": ("KE108", "def candidate(x, w):\n    os.write(3, b'ok')\n" + LAUNCH),
    "D8 process memory": ("KE108", "def candidate(x, w):\n    open('/proc/self/mem')\n" + LAUNCH),
    "D8 native memory": ("KE406", native("mprotect(p, 4096, 7); return y;")),
    "D9 heap": ("KE107", "import gc\ndef candidate(x, w):\n    gc.get_objects()\n" + LAUNCH),
    "D10 kill": ("KE108", "def candidate(x, w):\n    os.kill(1, 9)\n" + LAUNCH),
    "D11 hooks": ("KE114", "def candidate(x, w):\n    torch.utils._python_dispatch._disable_current_modes()\n" + LAUNCH),
    "E1 frames": ("KE107", "import inspect\ndef candidate(x, w):\n    inspect.stack()\n" + LAUNCH),
    "F4 locals of callers": ("KE107", "def candidate(x, w):\n    sys._getframe(1).f_locals\n" + LAUNCH),
    "F8 empty grid": ("KE404", entry("t = torch.empty_like(x)", "    kernel[(0,)](x, t, 4, BLOCK=4)\n    return t\n")),
    "H2 pasted": ("KE402", native("G(cub, lasGemmEx)(h); return y;", "#define G(a, b) a##b")),
    "H3 encoded": ("KE106", "import base64\nexec(base64.b64decode('eA=='))\ndef candidate(x, w):\n" + LAUNCH),
    "H6 importlib": ("KE126", entry("t = importlib.import_module('tor' 'ch').mm(x, w)", before="import importlib")),
    "H6 look-alike letters": ("KE126", entry("t = torch.ｍｍ(x, w)")),
    "A4 Python from C++": ("KE412", native("return py::module_::import(\"torch\").attr(\"mm\")(x, w).cast<torch::Tensor>();")),
    "A4 dlopen": ("KE406", native("dlsym(dlopen(\"libcublas.so\", 1), \"cublasSgemm_v2\"); return y;")),
    "A1 extension without a launch": ("KE403", native("return y;").replace("  k<<<1, 256>>>(x.data_ptr<float>(), y.data_ptr<float>());\n", "").replace("auto y = torch::empty_like(x);", "auto y = x * 2;")),
}  # fmt: skip
WARNED = {
    "A2 result discarded": ("KE103", entry("t = torch.empty_like(x)", "    kernel[(1,)](x, t, 4, BLOCK=4)\n    return x @ w\n")),
    "A2 overwritten by out=": ("KE103", entry("t = torch.empty_like(x)", "    kernel[(1,)](x, t, 4, BLOCK=4)\n    torch.mm(x, w, out=t)\n    return t\n")),
    "A2 overwritten by copy_": ("KE103", entry("t = torch.empty_like(x)", "    kernel[(1,)](x, t, 4, BLOCK=4)\n    t.copy_(x.softmax(-1))\n    return t\n")),
    "G1 zeros": ("KE103", entry("t = torch.empty_like(x)", "    kernel[(1,)](x, t, 4, BLOCK=4)\n    return torch.zeros_like(x)\n")),
    "F5 passes an input through": ("KE103", entry("t = torch.empty_like(x)", "    kernel[(1,)](x, t, 4, BLOCK=4)\n    return x.float()\n")),
    "A5 falls back": ("KE124", "def candidate(x, w):\n    y = torch.empty_like(x)\n    try:\n        kernel[(1,)](x, y, 4, BLOCK=4)\n    except Exception:\n        y = x * 2\n    return y\n"),
    "A5 falls back in C++": ("KE411", native("try { check(); } catch (...) { } return y;")),
    "A11 thrust": ("KE402", native("thrust::sort(a, b); return y;")),
    "A14 branch": ("KT105", "def candidate(x, w):\n    if x.shape[-1] > 8:\n        return F.softmax(x, -1)\n" + LAUNCH),
    "B1 pointer": ("KE122", "C = {}\ndef candidate(x, w):\n    if x.data_ptr() in C:\n        return C[x.data_ptr()]\n" + LAUNCH),
    "B2 shape": ("KE127", "C = {}\ndef candidate(x, w):\n    if x.shape in C:\n        return C[x.shape]\n    y = torch.empty_like(x)\n    kernel[(1,)](x, y, 4, BLOCK=4)\n    C[x.shape] = y\n    return y\n"),
    "B4 static in C++": ("KE410", native("static torch::Tensor last; return last;")),
    "B7 files": ("KE119", "def candidate(x, w):\n    torch.save(x, '/dev/shm/a')\n" + LAUNCH),
    "C1 stream": ("KE302", "S = torch.cuda.Stream()\ndef candidate(x, w):\n" + LAUNCH),
    "C1 stream in C++": ("KE409", native("cudaStream_t s; cudaStreamCreate(&s); return y;")),
    "C2 thread": ("KE109", "import threading\ndef candidate(x, w):\n    threading.Thread(target=print).start()\n" + LAUNCH),
    "C2 thread in C++": ("KE407", native("std::thread([]{}).detach(); return y;")),
    "C6 host callback": ("KE407", native("cudaLaunchHostFunc(0, f, 0); return y;")),
    "C7 persisting L2": ("KE408", native("cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1); return y;")),
    "C8 cache policy": ("KE413", native("return y;", kernel="asm volatile(\"createpolicy.fractional.L2::evict_last.b64 %0, 1.0;\" : \"=l\"(p)); y[0] = x[0];")),
    "C9 sleep": ("KE303", "import time\ndef candidate(x, w):\n    time.sleep(1)\n" + LAUNCH),
    "C11 early trigger": ("KE413", native("return y;", kernel="asm volatile(\"griddepcontrol.launch_dependents;\"); y[0] = x[0];")),
    "C12 threads of the baseline": ("KE202", "torch.set_num_threads(1)\ndef candidate(x, w):\n" + LAUNCH),
    "C14 events": ("KE408", native("cudaEventCreateWithFlags(&e, cudaEventDisableTiming); return y;")),
    "D4 global state": ("KE202", "torch.backends.cuda.matmul.allow_tf32 = True\ndef candidate(x, w):\n" + LAUNCH),
    "D7 writes files": ("KE119", "open('torch.py', 'w')\ndef candidate(x, w):\n" + LAUNCH),
    "D12 seeds": ("KE202", "torch.manual_seed(0)\ndef candidate(x, w):\n" + LAUNCH),
    "E2 counts": ("KE128", "N = 0\ndef candidate(x, w):\n    global N\n    N += 1\n    if N > 3:\n        return x\n" + LAUNCH),
    "E5 environment": ("KE118", "def candidate(x, w):\n    if 'CI' in os.environ:\n        return x\n" + LAUNCH),
    "G5 half precision": ("KE201", "def candidate(x, w):\n    x = x.half()\n" + LAUNCH),
    "G6 fast math": ("KE203", "FLAGS = ['--use_fast_math']\ndef candidate(x, w):\n    FLAGS\n" + LAUNCH),
    "G8 no mask": ("KT104", "@triton.jit\ndef k(x, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    tl.store(x + i, tl.load(x + i) + 1)\ndef candidate(x, w):\n    k[(1,)](x, BLOCK=4)\n    return x\n"),
    "H7 ctypes": ("KE111", "import ctypes\ndef candidate(x, w):\n    ctypes.CDLL('libcublas.so')\n" + LAUNCH),
    "H8 clock in a kernel": ("KE413", native("return y;", kernel="asm(\"mov.u64 %0, %globaltimer;\" : \"=l\"(t)); y[0] = t;")),
}  # fmt: skip


def find(text: str, task: Task | None = None) -> set[tuple[str, str]]:
    text = HEAD + textwrap.dedent(text)
    module = "class ModelNew" in text
    candidate = Candidate((SourceFile("k.py", text),), "ModelNew" if module else "candidate")
    packs = CUDA if "load_inline" in text or "cupy" in text else TRITON
    record = run(candidate, task or (MODULE if module else TASK), Target("triton", "interpret"), (*RULES, *packs))
    assert RULE_FAILED not in {f.code for f in record.findings}, record.findings
    return {(f.code, f.severity) for f in record.findings}


@pytest.mark.parametrize("way", REJECTED)
def test_rejected(way: str) -> None:
    code, text = REJECTED[way]
    assert (code, "reject") in find(text)


@pytest.mark.parametrize("way", WARNED)
def test_warned(way: str) -> None:
    code, text = WARNED[way]
    found = find(text)
    assert (code, "warn") in found


@pytest.mark.parametrize(
    ("way", "allow"),
    [
        ("A3 copy of a product", "aten::mm"), ("A3 copy of a product", "torch.matmul"), ("A3 copy of a norm", "aten::layer_norm"),
        ("A4 at:: in an extension", "aten::matmul"), ("A4 cublas in an extension", "cublas"), ("A4 method", "aten::mm"),
        ("A3 layer and a copy", "aten::linear"), ("A4 cupy", "cupy.matmul"),
        ("A6 compile", "torch.compile"), ("A9 aten overload", "aten::mm"), ("A10 vendored import", "flash_attn"),
    ],
)  # fmt: skip
def test_a_task_may_allow_it(way: str, allow: str) -> None:
    code, text = REJECTED[way]
    task = MODULE if "ModelNew" in text else TASK
    names = (allow, "aten::gelu", "aten::mm", "aten::bmm") if "A6" in way or "layer" in way else (allow,)
    allowing = Task(task.name, task.form, task.source, spec=TaskSpec(allow=names))
    assert (code, "reject") in find(text)
    assert (code, "reject") not in find(text, allowing)


@pytest.mark.parametrize("comment", ["# noqa", "# kengine: ignore", "# type: ignore", "# KE126: off", "# pragma: no cover"])
def test_no_comment_changes_anything(comment: str) -> None:
    text = entry(f"t = x @ w  {comment}", before=comment)
    assert ("KE126", "reject") in find(text)
    assert ("KE401", "reject") in find(native(f"return at::mm(x, w);  // {comment}"))


def test_lines_are_those_of_the_candidates_file() -> None:
    text = HEAD + native("return at::matmul(x, w);")
    candidate = Candidate((SourceFile("k.py", text),), "candidate")
    line = next(n for n, row in enumerate(text.split("\n"), 1) if "at::matmul" in row)
    found = [f.line for f in lint.check(candidate, TASK, Target("cuda", "cpu")).findings if f.code == "KE401"]
    assert found == [line]


def test_a_branch_of_which_nothing_is_known_only_warns() -> None:
    body = "#ifdef %s\n  return at::mm(x, w);\n#else\n  return y;\n#endif"
    for name in ("USE_ROCM", "MINE", "__CUDA_ARCH__"):
        assert ("KE401", "warn") in find(native(body % name)) and ("KE401", "reject") not in find(native(body % name))
    assert ("KE401", "reject") in find(native(body % "MINE", "#define MINE"))
    assert ("KE401", "reject") in find(native(body % "MINE") + "FLAGS = ['-DMINE=1']\n")
    assert not {c for c, _ in find(native("#if 0\n  return at::mm(x, w);\n#endif\n  return y;"))} & {"KE401"}
