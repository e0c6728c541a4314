"""Tricks, spelt in the ways in which they are hidden: each must be rejected by the rule that knows it."""

from __future__ import annotations

import textwrap

import pytest
from kengine.lint import check
from kengine.lint.rules import RULES
from kengine.lint.runner import run
from kengine.model import Candidate, SourceFile, Target, Task, TaskSpec
from kengine_triton.lint import RULES as TRITON

TASK = Task("t", "function", "def reference(x, w): return x\ndef make_inputs(seed, device): return 1, 2\n")
MODULE = Task("m", "module", "class Model:\n    def forward(self, x): return x\n")
TARGET = Target("triton", "interpret")
HEAD = """
import torch
import triton
import triton.language as tl

@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)
"""
LAUNCH = "    y = torch.empty_like(x)\n    kernel[(1,)](x, y, x.numel(), BLOCK=64)\n    return y\n"
HACKS = {
    "no kernel at all": ("KT101", "def candidate(x, w):\n    return x * w\n"),
    "operators by method": ("KT101", "def candidate(x, w):\n    return x.mul(w).softmax(-1)\n"),
    "kernel only evaluated": (
        "KT101",
        "def candidate(x, w):\n    kernel[(1,)]\n    _ = kernel\n    return x.softmax(-1)\n",
    ),
    "kernel only used by a function that nobody calls": (
        "KT101",
        "def go(x, y):\n    kernel[(1,)](x, y, 4, BLOCK=4)\ndef candidate(x, w):\n    return torch.relu(x)\n",
    ),
    "kernel in the script part": (
        "KT101",
        "def candidate(x, w):\n    return torch.relu(x)\n"
        "if __name__ == '__main__':\n    kernel[(1,)](1, 2, 4, BLOCK=4)\n",
    ),
    "plain code in the core's eyes": ("KE102", "def candidate(x, w):\n    return torch.nn.functional.gelu(x)\n"),
    "op by text": ("KE102", "op = getattr(torch, 'mat' + 'mul')\ndef candidate(x, w):\n    return op(x, w)\n"),
    "reference by text": ("KE101", "def candidate(x, w):\n    return globals()['refer' 'ence'](x, w)\n"),
    "reference from the main module": (
        "KE101",
        "import __main__\ndef candidate(x, w):\n    return __main__.reference(x)\n",
    ),
    "reference as a default": ("KE101", "def candidate(x, w, f=lambda *a: reference(*a)):\n    return f(x, w)\n"),
    "compile by vars": ("KE115", "def candidate(x, w):\n    return vars(torch)['comp' + 'ile'](kernel)(x)\n"),
    "compile as a decorator": ("KE115", "@torch.compile(fullgraph=True)\ndef candidate(x, w):\n" + LAUNCH),
    "compile through an alias": (
        "KE115",
        "from torch import compile as c\nf = c\ndef candidate(x, w):\n    return f(kernel)(x)\n",
    ),
    "comparison patched by alias": (
        "KE105",
        "t = torch\nt.allclose = lambda *a: True\ndef candidate(x, w):\n" + LAUNCH,
    ),
    "patched in a helper": (
        "KE105",
        "def prepare(name):\n    setattr(torch, name, None)\ndef candidate(x, w):\n    prepare('equal')\n" + LAUNCH,
    ),
    "patched through rot13": (
        "KE105",
        "import codecs\nsetattr(torch, codecs.decode('nyypybfr', 'rot13'), None)\ndef candidate(x, w):\n" + LAUNCH,
    ),
    "patched through the class dictionary": (
        "KE105",
        "type.__setattr__(torch.Tensor, '__eq__', None)\ndef candidate(x, w):\n" + LAUNCH,
    ),
    "launcher patched": (
        "KE105",
        "import triton.runtime.jit as j\nj.JITFunction.run = None\ndef candidate(x, w):\n" + LAUNCH,
    ),
    "module swapped": ("KE105", "import sys\nsys.modules.update(torch=None)\ndef candidate(x, w):\n" + LAUNCH),
    "builtins patched": ("KE105", "__builtins__['abs'] = None\ndef candidate(x, w):\n" + LAUNCH),
    "clock patched": ("KE301", "import time\ntime.perf_counter_ns = lambda: 0\ndef candidate(x, w):\n" + LAUNCH),
    "event patched": ("KE301", "from torch.cuda import Event\nEvent.elapsed_time = 0\ndef candidate(x, w):\n" + LAUNCH),
    "encoded text": ("KE106", "import base64 as b\nT = b.b64decode('eA==')\nexec(T)\ndef candidate(x, w):\n" + LAUNCH),
    "encoded text behind getattr": (
        "KE106",
        "import builtins, zlib\ngetattr(builtins, 'cexe'[::-1])(zlib.decompress(b''))\ndef candidate(x, w):\n" + LAUNCH,
    ),
    "frames by text": ("KE107", "import sys\ndef candidate(x, w):\n    getattr(sys, '_get' 'frame')(1)\n" + LAUNCH),
    "heap": ("KE107", "from gc import get_objects as g\ndef candidate(x, w):\n    g()\n" + LAUNCH),
    "early exit": ("KE108", "import os\ndef candidate(x, w):\n    os._exit(0)\n"),
    "process by import": ("KE108", "def candidate(x, w):\n    __import__('o' + 's').fork()\n" + LAUNCH),
    "process in a class that runs at import": (
        "KE108",
        "import subprocess\nclass A:\n    subprocess.Popen(['x'])\ndef candidate(x, w):\n" + LAUNCH,
    ),
    "process when a result dies": (
        "KE108",
        "import os\nclass A:\n    def __del__(self):\n        os.system('x')\ndef candidate(x, w):\n    A()\n" + LAUNCH,
    ),
    "network": ("KE110", "from urllib import request\ndef candidate(x, w):\n    request.urlopen('x')\n" + LAUNCH),
    "lazy tensor": ("KE113", "class T(torch.Tensor):\n    pass\ndef candidate(x, w):\n    return x.as_subclass(T)\n"),
    "function override": (
        "KE113",
        "class T:\n    @classmethod\n    def __torch_function__(cls, *a):\n        pass\n"
        "def candidate(x, w):\n    return T()\n",
    ),
    "modes popped": (
        "KE114",
        "def candidate(x, w):\n    torch.utils._python_dispatch._disable_current_modes()\n" + LAUNCH,
    ),
    "vendor library": ("KE116", "import xformers.ops as xo\ndef candidate(x, w):\n    return xo.rms_norm(x)\n"),
}


def codes(text: str, entry: str = "candidate", task: Task = TASK) -> set[str]:
    candidate = Candidate((SourceFile("k.py", text),), entry)
    return {f.code for f in run(candidate, task, TARGET, (*RULES, *TRITON)).findings if f.severity == "reject"}


@pytest.mark.parametrize("name", HACKS)
def test_rejected(name: str) -> None:
    code, text = HACKS[name]
    assert code in codes(HEAD + textwrap.dedent(text))


@pytest.mark.parametrize(
    "text",
    [
        "class ModelNew(Model):\n    pass\n",
        "from model import Model\nclass ModelNew(Model):\n    pass\n",
        "class ModelNew(torch.nn.Module):\n    def __init__(self):\n        self.m = Model()\n",
    ],
)
def test_inheriting_the_answer(text: str) -> None:
    assert "KE101" in codes(HEAD + text, "ModelNew", MODULE)


def test_plain_module() -> None:
    text = "class ModelNew(torch.nn.Module):\n    def forward(self, x):\n        return torch.relu(x)\n"
    assert codes("import torch\n" + text, "ModelNew", MODULE) == {"KE102", "KT101"}


def test_a_task_may_allow_names() -> None:
    text = HEAD + "f = torch.compile(lambda x: x)\ndef candidate(x, w):\n    f(x)\n" + LAUNCH
    assert codes(text) == {"KE115"}
    allowed = Task("t", "function", TASK.source, spec=TaskSpec(allow=("torch.compile",)))
    assert codes(text, task=allowed) == set()


def test_select_and_ignore() -> None:
    candidate = Candidate((SourceFile("k.py", HEAD + "def candidate(x, w):\n    return torch.relu(x)\n"),), "candidate")
    every = run(candidate, TASK, TARGET, (*RULES, *TRITON))
    assert {f.code for f in every.findings} == {"KE102", "KT101"}
    assert (every.rules, every.ignored) == (len(RULES) + len(TRITON), ())
    some = run(candidate, TASK, TARGET, (*RULES, *TRITON), select=("KE1",), ignore=("KE102",))
    assert some.findings == () and some.ignored == ("KE102",)
    assert some.rules == sum(r.code.startswith("KE1") for r in RULES) - 1


def test_check_needs_no_backend_and_no_parsable_text() -> None:
    broken = Candidate((SourceFile("k.py", "def candidate(x:\n"),), "candidate")
    assert check(broken, TASK, TARGET).findings == ()
    native = Candidate((SourceFile("k.cu", "__global__ void k() {}"),), "k", "cuda")
    assert check(native, TASK, TARGET).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "x = x\ny = y.z\ncandidate = candidate\n",
        "a = b\nb = a\ndef candidate(x, w):\n    return a.b.c(b)\n",
        "def candidate(x, w):\n    return " + "getattr(" * 60 + "x" + ", 'a')" * 60 + "\n",
        "def candidate(x, w):\n    return x" + ".a" * 900 + "\n",
        "x = " + " + ".join(["'a'"] * 900) + "\ndef candidate(x, w): return x\n",
        "def candidate(x, w):\n" + "    x = getattr(x, 'a' + 'b')\n" * 2000 + "    return x\n",
        "getattr(1)\nsetattr()\nvars()['a']\nexec()\ndef candidate(): pass\n__import__()\ntype(1, 2, 3)\n",
        "import sys\nsys.modules[3]\nsys.modules.get()\n''.join()\n'%s %s' % 'a'\nchr(99999999999)\n"
        "def candidate(): pass\n",
    ],
)
def test_hostile_text_breaks_no_rule(text: str) -> None:
    candidate = Candidate((SourceFile("k.py", text),), "candidate")
    assert [f for f in run(candidate, TASK, TARGET, (*RULES, *TRITON)).findings if f.code.startswith("KE99")] == []


def test_a_file_that_is_too_large_says_so_and_takes_no_time() -> None:
    text = "def candidate(x, w):\n    return x\n" + "x = (a, b, c, d)\n" * 20_000
    candidate = Candidate((SourceFile("k.py", text),), "candidate")
    findings = run(candidate, TASK, TARGET, RULES).findings
    assert [(f.code, f.severity) for f in findings] == [("KE992", "warn")]


def test_names_that_are_bound_too_often_say_so() -> None:
    text = "def candidate(x, w):\n    return t.allclose\n" + "t = f()\n" * 200
    candidate = Candidate((SourceFile("k.py", text),), "candidate")
    assert ("KE125", 1) in {(f.code, f.line) for f in run(candidate, TASK, TARGET, RULES).findings}
