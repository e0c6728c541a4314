"""Whole verdicts: what the chip's own compiler and limits say beside the emulator, and errors of every form."""

from __future__ import annotations

import importlib.util
import shutil

import pytest
from kengine import Engine, Plan, Status, tasks
from kengine_cuda.toolchain.places import find_places

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
    pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="needs a C++ compiler"),
]
chips = pytest.mark.skipif(bool(find_places().problem), reason=find_places().problem or "has compilers")

TASK = """
import torch

def reference(x):
    return x * 2

def make_inputs(seed, device, n=1000):
    return (torch.randn(n, generator=torch.Generator(device).manual_seed(seed), device=device),)
"""
RAW = '''
import cupy as cp
import torch

SOURCE = r"""
extern "C" __global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
"""
KERNEL = cp.RawKernel(SOURCE, "twice")

def candidate(x):
    y = torch.empty_like(x)
    KERNEL((-(-x.numel() // 256),), (256,), (cp.from_dlpack(x), cp.from_dlpack(y), x.numel()))
    return y
'''
BARE = """// /// kengine
// grid = "ceil_div(x.numel(), 256)"
// block = 256
// sizes = { n = "x.numel()" }
// ///
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
"""
INLINE = '''
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
__global__ void twice_kernel(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}

torch::Tensor twice(torch::Tensor x) {
  auto y = torch::empty_like(x);
  int n = x.numel();
  twice_kernel<<<(n + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
  return y;
}
"""
CPP = "torch::Tensor twice(torch::Tensor x);"
EXTENSION = load_inline("twice", cpp_sources=CPP, cuda_sources=CUDA, functions=["twice"])

def candidate(x):
    return EXTENSION.twice(x)
'''


@pytest.fixture(scope="module")
def engine():
    with Engine(target="cuda:cpu", plan=Plan(), workers=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def verify(engine):
    def run(text: str, name: str = "k.py", task: str = TASK):
        return engine.verify(tasks.parse(text, name, task_text=task))

    return run


def change(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


FORMS = {"k.py": RAW, "k.cu": BARE, "i.py": INLINE}


@pytest.mark.parametrize("name", FORMS)
def test_every_form(verify, name: str) -> None:
    verdict = verify(FORMS[name], name)
    assert verdict.status is Status.passed, verdict.message
    case = verdict.stages.launch.launches[0]
    assert [(launch.kernel, launch.grid) for launch in case] == [("twice_kernel" if name == "i.py" else "twice", (4,))]
    assert verdict.stages.launch.details["checked"] == 1


@pytest.mark.parametrize("name", FORMS)
def test_compile_errors(verify, name: str) -> None:
    text = change(FORMS[name], "y[i] = x[i]", "y[i] = z[i]")
    verdict = verify(text, name)
    assert verdict.status is Status.compile_failed
    assert "z" in verdict.message and "z[i]" in text.split("\n")[verdict.line - 1]


@pytest.mark.parametrize("name", FORMS)
def test_out_of_bounds(verify, name: str) -> None:
    verdict = verify(change(FORMS[name], "if (i < n)", "if (i <= n)"), name)
    assert verdict.status is Status.launch_failed
    assert "out-of-bounds" in verdict.message and "block (3,0,0), thread (232,0,0)" in verdict.message
    assert "if (i <= n)" in FORMS[name].replace("if (i < n)", "if (i <= n)").split("\n")[verdict.line - 1]


@pytest.mark.parametrize("name", FORMS)
def test_unsupported(verify, name: str) -> None:
    asm = 'asm volatile("" ::: "memory"); if (i < n)'
    verdict = verify(change(FORMS[name], "if (i < n)", asm), name)
    assert verdict.status is Status.unsupported
    assert (
        "inline assembly" in verdict.message
        and "asm" in FORMS[name].replace("if (i < n)", asm).split("\n")[verdict.line - 1]
    )


@pytest.mark.parametrize("name", FORMS)
def test_a_loop_without_end(name: str) -> None:
    text = change(FORMS[name], "if (i < n)", "while (n) atomicAdd(y, 1.0f);\n  if (i < n)")
    with Engine(target="cuda:cpu", compile_for=(), plan=Plan(launch_timeout_s=4.0), workers=1) as engine:
        verdict = engine.verify(tasks.parse(text, name, task_text=TASK))
    assert verdict.status is Status.timed_out, verdict.message


@pytest.mark.parametrize(
    ("old", "new", "status", "message"),
    [
        ("    return y", "    return y, y", Status.wrong_result, ""),
        ("    return y", "    return None", Status.wrong_result, ""),
        ("    return y", "    return cp.asnumpy(y)", Status.launch_failed, ""),
        ("x.numel()))\n", "x.numel(), 1))\n", Status.launch_failed, "twice takes 3 arguments"),
        ("cp.from_dlpack(x), ", "", Status.launch_failed, "twice takes 3 arguments"),
        ("(256,), (cp", "(2048,), (cp", Status.launch_failed, "launch limit"),
        ("(256,), (cp", "256, (cp", Status.launch_failed, "expected tuple, got int"),
        ('"twice")', '"thrice")', Status.compile_failed, "the source defines no kernel 'thrice'"),
        ("KERNEL((", "torch.mul(x, 2, out=y) if x is None else KERNEL((", Status.passed, ""),
    ],
)  # fmt: skip
def test_what_candidates_get_wrong(verify, old: str, new: str, status: Status, message: str) -> None:
    verdict = verify(change(RAW, old, new))
    if "asnumpy" in new:  # whatever the type is called, it is not a pass
        assert verdict.status in (Status.launch_failed, Status.wrong_result)
    else:
        assert verdict.status is status, verdict.message
    assert message in verdict.message


def test_a_kernel_that_does_nothing_and_a_wrapper_that_does_it_all(verify) -> None:
    text = change(change(RAW, "    return y", "    return x + x"), "import torch", "import torch  # noqa")
    verdict = verify(text)
    assert verdict.status is Status.sham, verdict.message


@chips
def test_what_only_the_chips_compiler_refuses(verify) -> None:
    text = change(RAW, 'extern "C"', 'float same(float v) { return v; }\nextern "C"').replace("x[i] *", "same(x[i]) *")
    verdict = verify(text)
    assert verdict.status is Status.compile_failed and verdict.message.startswith("cuda:sm_90: ")
    assert "host" in verdict.message and "same(" in text.split("\n")[verdict.line - 1]


def test_the_option_that_turns_checks_off() -> None:
    from kengine.cli.options import merge_plan

    assert merge_plan(Plan(), no_check=True).sanitize is False and merge_plan(Plan(), no_check=None).sanitize is True
    with Engine(target="cuda:cpu", compile_for=(), plan=Plan(sanitize=False), workers=1) as engine:
        verdict = engine.verify(tasks.parse(RAW, "k.py", task_text=TASK))
    assert verdict.passed and verdict.stages.launch.details["checked"] == 0


@chips
def test_too_many_registers_for_a_launch(engine) -> None:
    values = "".join(f"  float v{i} = x[(i + {i}) % n];\n" for i in range(100)) + "  __syncthreads();\n"
    work = "y[i] = x[i] * 2.0f + 0.0f * (" + " + ".join(f"v{i} * v{(i * 7) % 100}" for i in range(100)) + ");"
    text = change(
        change(RAW, "if (i < n) y[i] = x[i] * 2.0f;", values + f"  if (i < n) {work}"), "(256,), (cp", "(1024,), (cp"
    )
    verdict = engine.verify(tasks.parse(text, "k.py", task_text=TASK))
    assert verdict.status is Status.launch_failed, verdict.message
    assert (
        verdict.message.startswith("cuda:sm_90: launch limit: ")
        and "registers for each of 1024 threads" in verdict.message
    )


@chips
def test_resources_and_occupancy(verify) -> None:
    compiled = {str(a.target): a for a in verify(RAW).stages.compile.artifacts}
    assert [k.name for k in compiled["cuda:cpu"].kernels] == ["twice"]
    (kernel,) = compiled["cuda:sm_90"].kernels
    assert kernel.registers < 32 and kernel.spills == 0 and kernel.shared_bytes == 0 and kernel.occupancy == 1.0
    assert kernel.details["threads"] == 256 and kernel.details["local_bytes"] == 0


@chips
def test_compiling_only_for_every_chip() -> None:
    for arch in ("sm_80", "sm_90a", "sm_100", "sm_120"):
        with Engine(target=f"cuda:{arch}", plan=Plan(check=False), workers=1) as engine:
            verdict = engine.verify(tasks.parse(BARE, "k.cu", task_text=TASK))
        assert verdict.status is Status.passed, verdict.message
        (artifact,) = verdict.stages.compile.artifacts
        assert [k.name for k in artifact.kernels] == ["twice"] and artifact.kernels[0].registers > 0


def test_a_bare_file_for_another_vendor(verify) -> None:
    verdict = verify(BARE, "k.hip")
    assert verdict.status is Status.compile_failed
    assert "k.hip is HIP, and the backend 'cuda' judges Python and CUDA" in verdict.message
