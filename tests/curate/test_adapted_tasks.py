"""Tasks that were written for other benchmarks are judged: a right candidate passes, a wrong one does not."""

from __future__ import annotations

import importlib.util
import json

import pytest
from kengine import Engine
from kengine.curate.judge import make_item
from kengine.curate.load import load
from kengine.curate.record import evolve
from kengine.curate.settings import Source
from kengine.model import SourceFile

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("torch", "triton")),
        reason="needs torch and triton: pip install 'kernel-engine[triton]'",
    ),
]

KERNEL = """import torch
import triton
import triton.language as tl


@triton.jit
def multiply(x, w, y, count, factor, LANES: tl.constexpr):
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    inside = lane < count
    a = tl.load(x + lane, mask=inside, other=0.0)
    b = tl.load(w + lane, mask=inside, other=0.0)
    tl.store(y + lane, a * b * factor, mask=inside)


def product(x, w, factor=1.0):
    x, w = x.contiguous(), w.expand(x.shape).contiguous()
    y = torch.empty_like(x)
    multiply[(triton.cdiv(x.numel(), 64),)](x, w, y, x.numel(), factor, LANES=64)
    return y
"""
FUNCTIONAL = """import torch
from torch import nn


def module_fn(x, weight):
    return x * weight


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))

    def forward(self, x, fn=module_fn):
        return fn(x, self.weight)


def get_inputs(rows=3):
    return [torch.randn(rows, 40)]


def get_init_inputs(features=40):
    return [features]
"""
RULE = "#" * 146
SOURCES = {
    "ai-cuda-engineer": (
        {
            "a.jsonl": [
                {
                    "Op_Name": "1_Scale",
                    "Level_ID": 1,
                    "CUDA_Code": "PYBIND11_MODULE",
                    "PyTorch_Code_Functional": FUNCTIONAL,
                }
            ]
        },
        "def candidate(x, weight):\n    return product(x, weight)\n",
    ),
    "robust-kbench": (
        {
            "scale/func_forward.py": FUNCTIONAL.replace("module_fn", "forward_fn"),
            "scale/config_forward.json": {"multi_input_configs": [{"rows": 2}, {"rows": 5}]},
        },
        "def candidate(x, weight):\n    return product(x, weight)\n",
    ),
    "tritonbench-t": (
        {
            "scaled.py": "import torch\n\n\ndef scaled(input, other, *, alpha=1):\n    return input * other * alpha\n\n"
            + RULE
            + "\ndef test_scaled():\n    r = {}\n    a = torch.tensor([1.0, 2.0, 3.0], device='cuda')\n"
            "    r['test_case_1'] = scaled(a, a)\n"
            "    r['test_case_2'] = scaled(a, a + 1, alpha=3)\n    return r\n\ntest_results = test_scaled()\n"
        },
        "def candidate(input, other, alpha):\n    return product(input, other, alpha)\n",
    ),
    "gpu-mode": (
        {
            "p/task.yml": "lang: py\ntests:\n  - {size: 70, seed: 1}\n  - {size: 33, seed: 2}\n",
            "p/task.py": "from typing import TypeVar\ninput_t = TypeVar('input_t')\n",
            "p/reference.py": "import torch\nfrom task import input_t\n\n\n"
            "def ref_kernel(data: input_t):\n    x, w = data\n    return x * w\n\n\n"
            "def generate_input(size, seed):\n    g = torch.Generator(device='cuda').manual_seed(seed)\n"
            "    return tuple(torch.randn(size, generator=g, device='cuda') for _ in range(2))\n",
        },
        "def candidate(data):\n    x, w = data\n    return product(x, w)\n",
    ),
    "flashinfer-bench": (
        {
            "d.jsonl": [
                {
                    "name": "mul",
                    "op_type": "mul",
                    "axes": {"n": {"type": "var"}, "h": {"type": "const", "value": 8}},
                    "inputs": {
                        "x": {"shape": ["n", "h"], "dtype": "float32"},
                        "w": {"shape": ["n", "h"], "dtype": "float32"},
                    },
                    "outputs": {"y": {"shape": ["n", "h"], "dtype": "float32"}},
                    "reference": "def run(x, w):\n    return x * w\n",
                },
                {"definition": "mul", "workload": {"axes": {"n": 5}, "uuid": "u", "inputs": {"x": {"type": "random"}}}},
            ]
        },
        "def candidate(x, w):\n    return product(x, w)\n",
    ),
    "backendbench": (
        {"mul__Tensor/mul__Tensor_implementation_v1.py": "def mul__Tensor_kernel_impl(x, w):\n    return x\n"},
        "def mul__Tensor_kernel_impl(x, w):\n    shape = torch.broadcast_shapes(x.shape, w.shape)\n"
        "    return product(x.expand(shape).contiguous(), w)\n",
    ),
    "kernelbook": (
        {
            "k.jsonl": [
                {
                    "entry_point": "Scale",
                    "repo_name": "a/b",
                    "uuid": 1,
                    "module_name": "Scale",
                    "triton_code": "class ScaleNew: ...",
                    "python_code": "import torch\n\n\nclass Scale(torch.nn.Module):\n"
                    "    def __init__(self, by):\n        super().__init__()\n"
                    "        self.by = by\n\n    def forward(self, x, w):\n        return x * w * self.by\n\n\n"
                    "def get_inputs():\n"
                    "    return [torch.rand([4, 4]), torch.rand([4, 4])]\n\n\n"
                    "def get_init_inputs():\n    return [[], {'by': 3.0}]\n",
                }
            ]
        },
        "class ModelNew(torch.nn.Module):\n    def __init__(self, arguments, keywords):\n        super().__init__()\n"
        "        self.by = keywords['by']\n\n    def forward(self, x, w):\n        return product(x, w, self.by)\n",
    ),
}


@pytest.fixture(scope="module")
def engine():
    with Engine(target="triton:interpret", compile_for=()) as engine:
        yield engine


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_a_right_candidate_passes_and_a_wrong_one_does_not(engine, tmp_path, name) -> None:
    files, entry = SOURCES[name]
    if name == "gpu-mode":
        pytest.importorskip("yaml", reason="needs PyYAML: pip install 'kernel-engine[curate]'")
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if path.endswith(".jsonl"):
            (tmp_path / path).write_text("".join(json.dumps(row) + "\n" for row in content))
        else:
            (tmp_path / path).write_text(content if isinstance(content, str) else json.dumps(content))
    only = next(iter(files)) if len(files) == 1 and "/" not in next(iter(files)) and name != "tritonbench-t" else "."
    (sample, *_) = load([Source(only, "s", format=name)], tmp_path)
    named = sample.entry if name in ("backendbench",) else ""
    right = evolve(sample, files=(SourceFile("candidate.py", f"{KERNEL}\n\n{entry}"),), entry=named)
    verdict = engine.verify(make_item(right))
    assert verdict.status == "passed", f"{verdict.message}\n{verdict.log}"
    wrong = evolve(right, files=(SourceFile("candidate.py", right.code.replace("a * b * factor", "a + b * factor")),))
    assert engine.verify(make_item(wrong)).status == "wrong_result"
