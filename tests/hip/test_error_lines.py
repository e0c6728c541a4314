"""What a verdict says of every form of a HIP candidate that is wrong: status, message, and the candidate's own line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from error_lines import NEEDS, ErrorLines, Verify, check
from kengine import Engine, Plan, tasks
from kengine_hip import toolchain
from native_faults import ALL, CUPY, TASK, argument_faults, edited, file_name, in_kernel, with_header

pytestmark = NEEDS
FILE_TASK = """// /// kengine
// name = "twice"
// category = "elementwise"
// license = "Apache-2.0"
// grid = "ceil_div(n, 64)"
// block = 64
// inputs = ["x"]
// outputs = ["y"]
// sizes = { n = "x.numel()" }
// params = { N = 1000 }
//
// [arrays.x]
// dtype = "float32"
// shape = ["N"]
//
// [arrays.y]
// dtype = "float32"
// shape = ["n"]
//
// [[cases]]
// N = 1000
// ///
#include <hip/hip_runtime.h>
__global__ void simple(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * 2.0f;
}
"""


def parse(form: str, text: str, files: bool = False) -> Any:
    if files:
        return tasks.parse(text, "k.hip", task_text=FILE_TASK, task_name="task.hip")
    return tasks.parse(text, file_name(form, "hip"), task_text=TASK)


@pytest.fixture(scope="module")
def emulated() -> Iterator[Verify]:
    plan = Plan(ignore=("K",), launch_timeout_s=20.0)
    with Engine(target="hip:cpu", compile_for=(), plan=plan, workers=1) as engine:
        yield lambda form, text, files=False: engine.verify(parse(form, text, files))


@pytest.fixture(scope="module")
def compiled() -> Iterator[Verify]:
    if toolchain.missing():
        pytest.skip(toolchain.missing())
    with Engine(target="hip:gfx942", plan=Plan(check=False, ignore=("K",)), workers=1) as engine:
        yield lambda form, text, files=False: engine.verify(parse(form, text, files))


class TestHip(ErrorLines):
    """Those of both languages."""


def test_a_file_judged_by_a_file(emulated: Verify) -> None:
    text, expected = argument_faults("block")[0]
    check(emulated("block", text, files=True), text, *expected)
    text = edited("block", in_kernel("y[i] = z[i];"))
    check(emulated("block", text, files=True), text, "compile_failed", "'z' was not declared", "z[i]")
    assert emulated("block", edited("block"), files=True).passed


@pytest.mark.parametrize("form", ALL)
def test_what_cuda_writes_and_hip_does_not(emulated: Verify, form: str) -> None:
    text = edited(form, in_kernel("y[i % n] = __shfl_down_sync(0xffffffff, 1.0f, 1);"))
    check(emulated(form, text), text, "launch_failed", "-- lane masks have 64 bits on AMD", "0xffffffff")
    text = edited(form, in_kernel('asm volatile("" ::: "memory"); y[i % n] = 1.0f;'))
    check(emulated(form, text), text, "unsupported", "-- inline PTX has no meaning for AMD", "asm")
    assert emulated(form, with_header(form, "#include <cuda_runtime.h>\n")).passed, "names that both have"


@pytest.mark.parametrize("form", [*CUPY, "block", "host"])
def test_compile_errors_for_a_chip(compiled: Verify, form: str) -> None:
    text = with_header(form, "#include <cutlass/cutlass.h>\n")
    check(compiled(form, text), text, "unsupported", "has no cutlass/cutlass.h", "#include <cutlass")
    text = edited(form, in_kernel("y[i] = z[i];\n  w[0] = 1.0f;"))
    verdict = compiled(form, text)
    check(verdict, text, "compile_failed", "use of undeclared identifier 'z'", "z[i]")
    assert f"{file_name(form, 'hip')}:{verdict.line + 1}" in verdict.log


def test_braces_that_do_not_match_are_told_before_the_names_of_the_host(compiled: Verify) -> None:
    text = edited("inline", in_kernel("if (i < n) { y[i] = x[i];"))
    verdict = compiled("inline", text)
    assert verdict.status.value == "compile_failed" and "undeclared identifier 'torch'" not in verdict.message


def test_no_compiler_for_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    from kengine.simt import toolchain
    from kengine_hip import targets

    monkeypatch.delenv("KENGINE_SIMT_CXX", raising=False)
    monkeypatch.setattr(toolchain.shutil, "which", lambda name: None)
    monkeypatch.setattr(targets.importlib.util, "find_spec", lambda name: None)
    assert targets._host_compiler_missing().startswith("no C++ compiler: install g++ or clang++, or pip install")
    monkeypatch.setenv("KENGINE_SIMT_CXX", "no-such-compiler")
    assert "looked for no-such-compiler" in targets._host_compiler_missing()
