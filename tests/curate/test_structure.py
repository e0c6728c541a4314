"""What a reference computes, read from its tree: operators, category and level."""

from __future__ import annotations

import pytest
from kengine.curate import structure, taskbook
from kengine.curate.record import Sample
from kengine.model import SourceFile, Task, TaskSpec

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
TAIL = "\n\ndef get_inputs():\n    return [torch.rand(4, 4)]\n\n\ndef get_init_inputs():\n    return []\n"
BLOCK = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x):
        return F.relu(self.inner(x))
"""


def module(forward: str, init: str = "pass", extra: str = "") -> Task:
    body = f"class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {init}\n\n"
    return taskbook.make(f"{HEAD}{extra}\n{body}    def forward(self, x):\n        {forward}{TAIL}", "t")


def function(body: str, extra: str = "") -> Task:
    text = f"import torch\n{extra}\ndef reference(x, y):\n    {body}\n\ndef make_inputs(seed, device): ...\n"
    return taskbook.make(text, "t")


@pytest.mark.parametrize(
    ("task", "category", "level", "operator"),
    [
        (module("return torch.relu(x)"), "activation", 1, "relu"),
        (module("return self.conv(x)", "self.conv = nn.Conv2d(3, 4, 3)"), "convolution", 1, "Conv2d"),
        (module("return torch.matmul(x, x.T)"), "matmul", 1, "matmul"),
        (module("return x @ x"), "matmul", 1, "matmul"),
        (module("return torch.softmax(x, dim=1)"), "softmax", 1, "softmax"),
        (module("return torch.cumsum(x, dim=1)"), "scan", 1, "cumsum"),
        (module("return x.transpose(0, 1).contiguous()"), "movement", 1, ""),
        (module("return x + 1"), "elementwise", 1, "add"),
        # written out by hand, they are still one operator
        (module("return 0.5 * x * (1 + torch.tanh(0.79 * (x + 0.04 * torch.pow(x, 3.0))))"), "activation", 1, ""),
        (module("return x / torch.sqrt(torch.mean(x**2, dim=1, keepdim=True) + 1e-5)"), "normalization", 1, ""),
        (function("e = torch.exp(x - x.amax(-1, keepdim=True)); return e / e.sum(-1, keepdim=True)"), "softmax", 1, ""),
        (module("return torch.mean(torch.clamp(1 - x * x, min=0))"), "reduction", 1, ""),
        (module("return F.softmax(x @ x.transpose(-2, -1) / 8, dim=-1) @ x"), "attention", 1, ""),
        # several that fit into one kernel
        (module("return torch.relu(self.conv(x)) + 1", "self.conv = nn.Conv2d(3, 4, 3)"), "convolution", 2, ""),
        (module("return torch.exp(x @ x)"), "matmul", 2, ""),
        (function("return torch.relu(help(x))", "def help(x):\n    return torch.sum(x, dim=0)\n"), "reduction", 2, ""),
        # several kernels' work
        (module("return self.net(x)", "self.net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))"),
         "matmul", 3, ""),
        (module("o, _ = self.rnn(x); return self.out(o)", "self.rnn = nn.LSTM(4, 4); self.out = nn.Linear(4, 4)"),
         "recurrent", 3, ""),
        (module("for b in self.blocks:\n            x = b(x)\n        return x",
                "self.blocks = nn.ModuleList([Block() for _ in range(3)])", BLOCK), "matmul", 3, ""),
    ],
)  # fmt: skip
def test_category_level_and_operator(task, category, level, operator) -> None:
    found = structure.read(task)
    assert found is not None
    assert (found.category, found.level, found.operator) == (category, level, operator)


@pytest.mark.parametrize(
    "source", ["def reference(x:\n", "reference = 3\n", "def reference(x):\n    return mystery(x)\n", "\0", ""]
)
def test_what_says_nothing_has_no_structure(source) -> None:
    assert structure.read(Task("t", "function", source)) is None


def test_a_reference_that_calls_itself_ends() -> None:
    source = "def reference(x):\n    return torch.relu(reference(x))\n"
    found = structure.read(Task("t", "function", source))
    assert found is not None and found.category == "activation"
    deep = Task("t", "function", f"def reference(x):\n    return {'-' * 3000}x\n")
    assert structure.read(deep) is None


def test_labels_by_source_and_by_rule() -> None:
    task = module("return torch.relu(x)")
    told = Task(task.name, task.form, task.source, spec=TaskSpec(category="mine", level=4))
    sample = Sample("u", "s", "o", told, labels={"operator": "clip"})
    assert structure.describe(sample) == {"operator": "clip", "category": "mine", "level": 4}
    assert structure.describe(sample, "rule") == {"operator": "relu", "category": "activation", "level": 1}
    files = (SourceFile("a.py", "x"), SourceFile("b.py", "y"))
    assert structure.describe(Sample("u", "s", "o", task, files=files))["level"] == 3
    assert structure.describe(Sample("u", "s", "o")) == {}
