"""What a candidate makes of TRITON_INTERPRET decides nothing: its target does."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from triton_candidates import HEAD

X = torch.arange(1000, dtype=torch.float32)

KERNEL = """
@triton.jit
def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)

def candidate(x):
    y = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
"""
LATE = """
def candidate(x):
    {setting}
    @triton.jit
    def add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)
    y = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 256),)](x, y, x.numel(), BLOCK=256)
    return y
"""
VARIABLE = {
    "unset": "",
    "one": 'os.environ["TRITON_INTERPRET"] = "1"',
    "zero": 'os.environ["TRITON_INTERPRET"] = "0"',
    "true": 'os.environ.update(TRITON_INTERPRET="true")',
    "default": 'os.environ.setdefault("TRITON_INTERPRET", "1")',
    "removed": 'os.environ.pop("TRITON_INTERPRET", None)',
    "putenv": 'os.putenv("TRITON_INTERPRET", "1")',
}
KNOB = {
    "on": "triton.knobs.runtime.interpret = True",
    "off": "triton.knobs.runtime.interpret = False",
    "deleted": "del triton.knobs.runtime.interpret; os.environ['TRITON_INTERPRET'] = '0'",
    "reset": "os.environ['TRITON_INTERPRET'] = '1'; triton.knobs.runtime.reset()",
    "copied": "triton.knobs.runtime = triton.knobs.runtime.copy(); triton.knobs.runtime.interpret = True",
}
knobs = pytest.mark.skipif(importlib.util.find_spec("triton.knobs") is None, reason="this Triton has no knobs")
SETTINGS = [
    *(pytest.param(f"import os\n{line}\n" + HEAD, line, id=name) for name, line in VARIABLE.items()),
    *(pytest.param(HEAD + f"import os\n{line}\n", line, id=f"knob-{name}", marks=knobs) for name, line in KNOB.items()),
]


@pytest.mark.parametrize("head, line", SETTINGS)
def test_interpreted(judge: Any, head: str, line: str) -> None:
    answer = judge.interpret(KERNEL, X, head=head)
    assert torch.equal(answer.value, X + 1)
    assert [(launch.kernel, launch.count) for launch in answer.launches] == [("add", 1)]


@pytest.mark.parametrize("head, line", SETTINGS)
def test_compiled(judge: Any, head: str, line: str) -> None:
    (kernel,) = judge.compile("sm_90", KERNEL, X, head=head).artifact.kernels
    assert kernel.name == "add" and kernel.registers > 0


@pytest.mark.parametrize("value", ["0", "1"])
def test_set_while_it_is_called(judge: Any, value: str) -> None:
    source = LATE.format(setting=f"os.environ['TRITON_INTERPRET'] = '{value}'")
    head = "import os\n" + HEAD
    assert torch.equal(judge.interpret(source, X, head=head).value, X + 1)
    assert [kernel.name for kernel in judge.compile("sm_90", source, X, head=head).artifact.kernels] == ["add"]


def test_what_the_variable_says_is_left_to_the_candidate(judge: Any) -> None:
    head = 'import os\nos.environ["TRITON_INTERPRET"] = "0"\n' + HEAD
    source = KERNEL.replace("return y", 'return y * (2 if os.environ["TRITON_INTERPRET"] == "0" else 1)')
    assert torch.equal(judge.interpret(source, X, head=head).value, (X + 1) * 2)


HELD = """
import os
import triton
from kengine_triton import interpretation

def kind():
    return type(triton.jit(kernel)).__name__

def kernel(x):
    pass

for interprets in (True, False):
    interpretation.hold(interprets)
    for value in ("1", "0", None):
        os.environ.pop("TRITON_INTERPRET", None)
        if value:
            os.environ["TRITON_INTERPRET"] = value
        print(kind(), type(triton.jit(debug=True)(kernel)).__name__, os.environ.get("TRITON_INTERPRET"))
if hasattr(triton, "knobs"):
    runtime = triton.knobs.runtime
    with runtime.scope():
        runtime.interpret = True
        assert runtime.interpret is False and runtime.knobs["interpret"] is False and kind() == "JITFunction"
    assert runtime.reset() is runtime and kind() == "JITFunction"
"""


def test_every_kernel_is_of_the_sort_that_was_held(tmp_path: Path) -> None:
    script = tmp_path / "held.py"
    script.write_text(HELD)
    environ = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environ, timeout=120)
    assert done.returncode == 0, done.stderr
    interpreted = [f"InterpretedFunction InterpretedFunction {value}" for value in ("1", "0", None)]
    compiled = [f"JITFunction JITFunction {value}" for value in ("1", "0", None)]
    assert done.stdout.splitlines() == interpreted + compiled


@pytest.fixture(scope="module")
def verify() -> Any:
    """Judge a candidate for a task of one addition on the interpreter, with its companion."""
    from kengine import Engine, tasks

    with Engine(target="triton:interpret", workers=1) as engine:
        yield lambda path: engine.verify(tasks.load([path]))


TASK = """
def reference(x):
    return x + 1

def make_inputs(seed, device):
    return [torch.randn(1000, generator=torch.Generator().manual_seed(seed))]
"""


@pytest.mark.parametrize("name", ["unset", "one", "zero"])
def test_verdict(verify: Any, tmp_path: Path, name: str) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(f"import os\n{VARIABLE[name]}\n{HEAD}{TASK}{KERNEL}")
    verdict = verify(path)
    assert verdict.status == "passed", verdict.message
    assert all(check.ok for check in verdict.stages.integrity.checks)
    assert "same kernels" in {check.name for check in verdict.stages.integrity.checks}
    assert not [finding for finding in verdict.stages.lint.findings if finding.severity == "reject"]


def test_the_compilers_grammar_is_there_before_a_kernel_runs() -> None:
    """Python 3.10 cannot load it once the interpreter has put its own functions in the language."""
    asked = ("import sys; from kengine_triton import interpret; interpret.install(); "
             "print('triton.compiler.code_generator' in sys.modules)")  # fmt: skip
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environ = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", asked], env=environ, capture_output=True, text=True, timeout=120)
    assert done.stdout == "True\n", done.stderr
