"""The engine on a GPU: honest and hostile kernels, timing, and nothing left on the device."""

from __future__ import annotations

import subprocess

import pytest
from kengine import Engine, Plan, tasks

pytestmark = pytest.mark.device

TASK = """# /// kengine
# [[cases]]
# rows = 256
# columns = 1024
# [[cases]]
# rows = 33
# columns = 1000
# ///
import torch


def reference(x, y):
    return x + y


def make_inputs(seed, device, rows, columns):
    g = torch.Generator(device=device).manual_seed(seed)
    return tuple(torch.randn(rows, columns, generator=g, device=device) for _ in range(2))
"""

ADD = """import torch
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, total, mask=mask)


def candidate(x, y):
    out = torch.empty_like(x)
    n = out.numel()
    add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
    return out
"""


def item(text, task=TASK):
    return tasks.parse(text, "candidate.py", task_text=task)


def memory_mb():
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    return int(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0])


@pytest.fixture(scope="module")
def engine(target):
    plan = Plan(ignore=("KE",), launch_timeout_s=10.0)
    with Engine(target=target, compile_for=(), plan=plan, workers=2) as engine:
        yield engine


def test_an_honest_kernel_passes_with_its_resources(engine):
    verdict = engine.verify(item(ADD))
    assert verdict.status == "passed", verdict.message
    assert not verdict.emulated
    assert verdict.stages.compile is not None
    kernel = verdict.stages.compile.artifacts[0].kernels[0]
    assert kernel.name == "add"
    assert kernel.registers is not None and 8 <= kernel.registers <= 255
    assert kernel.spills == 0
    assert {"private_root", "landlock", "seccomp", "network_namespace"} <= set(verdict.environment.sandbox)


def test_a_single_file_gets_a_judge_of_its_own_on_the_device(target):
    with Engine(target=target, compile_for=(), workers=1) as engine:
        verdict = engine.verify(tasks.parse(TASK + ADD, "single.py"))
    assert verdict.status == "passed", verdict.message
    assert verdict.self_referenced


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (("tl.load(y_ptr + offsets, mask=mask)", "0.5"), "wrong_result"),
        (("    return out", "    return x + y"), "sham"),
        (("BLOCK: tl.constexpr", "BLOCK"), "compile_failed"),
        (("tl.load(x_ptr + offsets, mask=mask)", "tl.load(x_ptr + offsets + (1 << 40))"), "crashed"),
        (("    out = torch.empty_like(x)", "    while True: pass\n    out = torch.empty_like(x)"), "timed_out"),
        (("    out = torch.empty_like(x)", "    import os; os._exit(0)\n    out = torch.empty_like(x)"), "crashed"),
        (("    total = ", "    while tl.load(x_ptr, volatile=True) < 1e30:\n        pass\n    total = "), "timed_out"),
    ],
    ids=["wrong", "sham", "no constexpr", "illegal address", "endless host loop", "exit", "endless kernel"],
)
def test_a_bad_one_ends_in_its_status_and_harms_nobody(engine, change, status):
    assert change[0] in ADD
    verdict = engine.verify(item(ADD.replace(*change)))
    accepted = (status, "launch_failed") if status == "crashed" else (status,)
    assert verdict.status in accepted, verdict.message
    honest = engine.verify(item(ADD))
    assert honest.status == "passed", honest.message


def test_times_come_from_the_device_and_agree_with_themselves(target):
    with Engine(target=target, compile_for=(), plan=Plan(time=True), workers=1) as engine:
        first, second = engine.verify(item(ADD)), engine.verify(item(ADD))
    for verdict in (first, second):
        assert verdict.status == "passed", verdict.message
        assert verdict.stages.time is not None
        timing = verdict.stages.time.cases[0]
        assert timing.method in ("activity", "event")
        assert all(t > 0 for t in timing.candidate_ns + timing.baseline_ns)
        assert timing.low <= timing.speedup <= timing.high
        assert verdict.speedup is not None and 0.2 < verdict.speedup < 20
    ratio = first.speedup / second.speedup
    assert 0.8 < ratio < 1.25


def test_a_bar_that_nobody_clears_is_too_slow(target):
    with Engine(target=target, compile_for=(), plan=Plan(min_speedup=1000.0), workers=1) as engine:
        verdict = engine.verify(item(ADD))
    assert verdict.status == "too_slow", verdict.message
    assert verdict.speedup is not None


GRAPH = """
GRAPHS = {}


def candidate(x, y):
    key = tuple(x.shape)
    if key not in GRAPHS:
        a, b, out = torch.empty_like(x), torch.empty_like(y), torch.empty_like(x)
        n = out.numel()
        grid = (triton.cdiv(n, 1024),)
        add[grid](a, b, out, n, BLOCK=1024)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            add[grid](a, b, out, n, BLOCK=1024)
        GRAPHS[key] = graph, a, b, out
    graph, a, b, out = GRAPHS[key]
    a.copy_(x)
    b.copy_(y)
    graph.replay()
    return out.clone()
"""


def test_replays_of_a_graph_are_launches_of_what_it_holds(engine):
    verdict = engine.verify(item(ADD.partition("def candidate")[0] + GRAPH))
    assert verdict.status == "passed", (verdict.message, verdict.log)
    # The first call of the first shape has the launch that warms up, too.
    assert [[launch.kernel for launch in case] for case in verdict.stages.launch.launches] == [["add"], ["add"]]


def test_operators_that_a_graph_hides_are_operators(engine):
    hidden = GRAPH.replace(
        "            add[grid](a, b, out, n, BLOCK=1024)\n        GRAPHS",
        "            add[grid](a, b, torch.empty_like(out), n, BLOCK=1024)\n"
        "            torch.add(a, b, out=out)\n        GRAPHS",
    )
    assert hidden != GRAPH
    verdict = engine.verify(item(ADD.partition("def candidate")[0] + hidden))
    assert verdict.status == "sham", verdict.message
    assert "provenance" in verdict.message


def test_device_memory_comes_back(engine):
    engine.verify(item(ADD))
    before = memory_mb()
    taken = "    global h\n    h = torch.empty(4 << 30, dtype=torch.uint8, device='cuda')\n"
    hoard = ADD.replace("    out = torch.empty_like(x)", taken + "    out = torch.empty_like(x)")
    for n in range(6):
        assert engine.verify(item(hoard + f"\n# {n}")).status == "passed"
    assert memory_mb() < before + 3000


def test_the_answer_is_not_in_the_memory_that_is_lent(engine):
    # All that can be reached through the lent allocation besides the inputs must be poison or zero.
    spy = ADD.replace(
        "    out = torch.empty_like(x)",
        "    assert x.untyped_storage().nbytes() == x.numel() * x.element_size()\n    out = torch.empty_like(x)",
    )
    assert engine.verify(item(spy)).status == "passed"
