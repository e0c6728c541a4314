"""A runner on a GPU: all walls in force, memory through descriptors, and contexts that die alone."""

from __future__ import annotations

import os
import time

import pytest
from kengine import codec, wire
from kengine.device.memory import SharedMemory, supported
from kengine.model import CaseView, TensorSpec

pytestmark = pytest.mark.device

TRITON = """
import torch, triton
import triton.language as tl

@triton.jit
def add_one(x, o, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

def candidate(x):
    assert x.is_cuda and x.untyped_storage().nbytes() == 4096, x.untyped_storage().nbytes()
    o = torch.empty_like(x)
    add_one[(4,)](x, o, x.numel(), B=256)
    return o
"""
SPEC = TensorSpec("float32", (1024,))
NAMESPACES = ("pid_namespace", "mount_namespace", "network_namespace", "ipc_namespace", "uts_namespace")


@pytest.fixture(scope="module")
def torch():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device here")
    return torch


class Arena:
    """A judge's block of device memory."""

    def __init__(self) -> None:
        self.memory = SharedMemory(16384)
        self.view = self.memory.piece(0, self.memory.nbytes)
        self.fd = self.memory.export()

    def describe(self) -> dict:
        return {"via": "cuda_fd", "nbytes": self.memory.nbytes, "number": 1, "device": 0}


@pytest.fixture(scope="module")
def arena(torch):
    torch.ones(1, device="cuda")
    if not supported():
        pytest.skip("this driver does not share memory by descriptor")
    arena = Arena()
    yield arena
    os.close(arena.fd)
    del arena.view
    arena.memory.close()


@pytest.fixture(scope="module")
def zygote(torch):
    import importlib.util
    from pathlib import Path

    spec = importlib.util.spec_from_file_location("runner_conftest", Path(__file__).with_name("conftest.py"))
    tools = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tools)
    zygote = tools.Zygote()
    assert zygote.start(preload=("numpy", "torch", "triton"), target="double:cuda")["ok"]
    yield zygote
    assert zygote.close() == 0


def bundle(torch, arena):
    view = arena.view
    view.fill_(255)
    view[:4096].view(torch.float32).copy_(torch.arange(1024.0))
    torch.cuda.synchronize()
    leaf = {"k": "array", "spec": codec.to_json(SPEC), "at": 0, "nbytes": 4096}
    made = {"arena": arena.describe(), "args": [leaf], "init_args": [], "state": {}, "destination": [],
            "sinks": [{"at": 8192, "nbytes": 4096}]}  # fmt: skip
    return made, view


@pytest.mark.parametrize("without", [(), ("pid_namespace", "ipc_namespace"), ("private_root",), NAMESPACES, ("uid",)])
def test_a_kernel_runs_behind_walls(torch, arena, zygote, tools, tmp_path, without):
    made, view = bundle(torch, arena)
    begun = time.perf_counter()
    runner = tools.Runner(zygote, tmp_path, device="cuda", without=list(without))
    ready = time.perf_counter() - begun
    try:
        assert runner.ready["op"] == "ready", runner.ready
        assert runner.compile(TRITON)["ok"]
        body = {"case": codec.to_json(CaseView(0, (SPEC,))), "mode": "normal", "bundle": made}
        reply = runner.ask("launch", body, (arena.fd,), 60)
        assert reply["ok"], (reply, runner.printed)
        assert reply["outputs"][0]["device"] == "cuda"
        assert view[8192:12288].view(torch.float32).tolist() == [float(n + 1) for n in range(1024)]
        begun = time.perf_counter()
        again = runner.ask("launch", body, (arena.fd,))
        second = time.perf_counter() - begun
        print(f"\nwithout {without}: ready {ready * 1e3:.0f} ms, second launch {second * 1e3:.1f} ms")
        print(f"in force {runner.ready['sandbox']}")
        assert again["ok"]
    finally:
        begun = time.perf_counter()
        assert runner.kill()["ok"]
        print(f"killed in {(time.perf_counter() - begun) * 1e3:.0f} ms")


def test_an_illegal_address_dies_alone(torch, arena, zygote, tools, tmp_path):
    made, _ = bundle(torch, arena)
    body = {"case": codec.to_json(CaseView(0, (SPEC,))), "mode": "normal", "bundle": made}
    runner = tools.Runner(zygote, tmp_path, device="cuda")
    assert runner.compile(TRITON.replace("o + i, tl", "o + i + (1 << 40), tl"))["ok"]
    reply = runner.ask("launch", body, (arena.fd,), 60)
    assert reply["fault"]["status"] in ("launch_failed", "crashed")
    assert runner.kill()["ok"]
    assert torch.ones(3, device="cuda").sum().item() == 3
    runner = tools.Runner(zygote, tmp_path, device="cuda")
    assert runner.compile(TRITON)["ok"]
    assert runner.ask("launch", body, (arena.fd,), 60)["ok"]
    assert runner.kill()["ok"]


def test_host_memory_is_bounded_without_harm_to_the_driver(torch, zygote, tools, tmp_path):
    from kengine.config import Limits

    runner = tools.Runner(zygote, tmp_path, Limits(memory_bytes=2 << 30), device="cuda")
    text = (
        "import torch\na = torch.ones(1 << 28, device='cuda')\nb = torch.ones(1 << 20).pin_memory()\n"
        "c = [bytearray(1 << 28) for _ in range(100)]\n"
    )
    try:
        reply = runner.compile(text)
        assert reply["fault"]["status"] == "crashed", reply
        assert reply["fault"]["line"] == 4
    except wire.WireClosed:
        pytest.fail(f"it died: {runner.reap()}")
    finally:
        runner.kill()


def test_many_runners_leave_no_device_memory(torch, zygote, tools, tmp_path):
    free = []
    for _ in range(6):
        tools.Runner(zygote, tmp_path, device="cuda").kill()
        torch.cuda.synchronize()
        free.append(torch.cuda.mem_get_info()[0])
    assert abs(free[-1] - free[0]) < 64 << 20, free
