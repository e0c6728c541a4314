"""The judge's device path on a stand-in: device memory is host memory in torch tensors, torch does the sums."""

from __future__ import annotations

import dataclasses
import os

import pytest
from kengine import codec
from kengine.judge import arena
from kengine.model import Comparison

torch = pytest.importorskip("torch")


TASKS = {
    "rmsnorm": (
        "def reference(x, w):\n    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w\n",
        lambda x, w: x * torch.rsqrt((x * x).sum(-1, keepdim=True) / x.shape[1] + 1e-6) * w,
    ),
    "sum": ("def reference(x, w):\n    return (x * w).sum()\n", lambda x, w: (x @ w).sum()),
    "topk": ("def reference(x, w):\n    return torch.topk(x * w, 3)\n", lambda x, w: tuple(torch.topk(x * w, 3))),
    "mask": ("def reference(x, w):\n    return x > w\n", lambda x, w: x > w),
    "sqrt": ("def reference(x, w):\n    return torch.sqrt(x) * w\n", lambda x, w: torch.sqrt(x) * w),
    "fft": (
        "def reference(x, w):\n    return torch.fft.rfft(x * w)\n",
        lambda x, w: torch.fft.fft(x * w)[:, :49].clone(),
    ),
}
HEAD = """
import torch
def make_inputs(seed, device, dtype="float32"):
    g = torch.Generator().manual_seed(seed)
    d = getattr(torch, dtype)
    return [torch.randn(16, 96, generator=g).to(d), (torch.rand(96, generator=g) + 0.5).to(d)]
"""


@pytest.mark.parametrize("name", TASKS)
def test_right_and_wrong(device_bench, make_task, name):
    body, candidate = TASKS[name]
    opened = device_bench.open(make_task(HEAD + body), screen=True)
    assert opened["ok"], opened
    for case, c in device_bench.run_all(candidate).items():
        assert c.ok, (case, c)
    for case, c in device_bench.run_all(lambda x, w: _poisoned(candidate(x, w))).items():
        assert not c.ok and c.problem, case


def _poisoned(value):
    if isinstance(value, tuple):
        return tuple(_poisoned(v) for v in value)
    if value.dtype == torch.bool:
        return ~value
    return torch.full_like(value, -7)


def test_host_and_device_agree(device_bench, bench, make_task):
    task = make_task(HEAD + TASKS["rmsnorm"][0], cases=[{"name": "h", "params": {"dtype": "float16"}}])
    results = []
    for device in ("cuda", "cpu"):
        body = {"task": codec.to_json(task), "salt": "00" * 8, "device": device, "cases": None, "screen": True}
        device_bench.task = task
        device_bench.opened, _ = device_bench.judge.answer({"op": "open", **body}, [])
        assert device_bench.opened["ok"], device_bench.opened
        (lent,) = device_bench.lend(0)
        answer = device_bench.compare(0, lent.describe([TASKS["rmsnorm"][1](*lent.args) * 1.001]))
        results.append((codec.from_json(answer["comparison"], Comparison), answer["digest"]))
    (a, digest_a), (b, digest_b) = results
    assert digest_a == digest_b
    assert (a.ok, a.wrong, a.worst, a.where) == (b.ok, b.wrong, b.worst, b.where)
    assert a.error_ratio == pytest.approx(b.error_ratio, rel=1e-6)


def test_inputs_are_watched(device_bench, make_task):
    device_bench.open(make_task(HEAD + TASKS["rmsnorm"][0]), cases=1)
    c = device_bench.run(lambda x, w: (TASKS["rmsnorm"][1](x, w), w.mul_(2))[0])
    assert c.mutated == ("w",)


def test_module_and_numpy_forms(device_bench, make_task):
    source = "import numpy as np\ndef forward(x):\n    return np.cumsum(x, 1)\n"
    source += "def get_inputs():\n    return [np.random.randn(6, 50).astype(np.float32)]\n"
    device_bench.open(make_task(source, form="numpy"), screen=True)
    assert device_bench.opened["ok"], device_bench.opened
    source = "import torch\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    source += "        self.l = torch.nn.Linear(9, 5)\n    def forward(self, x):\n        return self.l(x)\n"
    source += "def get_inputs():\n    return [torch.randn(12, 9)]\ndef get_init_inputs():\n    return []\n"
    device_bench.open(make_task(source, form="module"), screen=True)
    assert device_bench.opened["ok"], device_bench.opened
    assert device_bench.run(lambda init, state, x: x @ state["l.weight"].T + state["l.bias"]).ok


def test_a_quarter_of_the_devices_memory_is_kept(device_bench, make_task, monkeypatch):
    monkeypatch.setattr(arena, "memory_bytes", lambda device: 141 << 30)
    device_bench.open(make_task(HEAD + TASKS["sum"][0]))
    assert device_bench.judge.caches["cuda"].limit == (141 << 30) // 4
    # There may be as many judges of one candidate as there are workers.
    device_bench.open(dataclasses.replace(make_task(HEAD + TASKS["sqrt"][0]), self_referenced=True))
    assert device_bench.judge.caches["cuda"].limit == (141 << 30) // 32
    monkeypatch.setattr(arena, "memory_bytes", lambda device: 0)
    device_bench.open(make_task(HEAD + TASKS["mask"][0]))
    assert device_bench.judge.caches["cuda"].limit == 16 << 30
    assert device_bench.judge.caches["cpu"].limit == 2 << 30


def test_a_device_that_does_not_answer_has_no_known_size(monkeypatch):
    def refuse():
        raise RuntimeError("no device")

    monkeypatch.setattr(torch.cuda, "current_device", refuse)
    assert arena.memory_bytes("cuda") == 0 and arena.memory_bytes("cpu") == 0


@pytest.mark.device
def test_real_device_arena():
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device")
    block = arena.make_arena("cuda", 1 << 20)
    described = block.describe()
    assert described == {"via": "cuda_fd", "nbytes": block.nbytes, "number": described["number"], "device": 0}
    assert block.nbytes >= 1 << 20 and described["number"] >= 1
    (fd,) = block.descriptors()
    assert os.fstat(fd) and block.view.numel() == block.nbytes and block.view.is_cuda
    arena.poison(block.view)
    assert block.view[-1].item() == arena.POISON
    block.close()
    block.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(fd)
    assert arena.memory_bytes("cuda") > 1 << 30
