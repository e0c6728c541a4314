"""The shipped CUDA examples get exactly the status that they say of themselves, in every form."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest
from kengine import Engine, Plan, Status, tasks

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "cuda"
BOUNDS, RACE = "out-of-bounds read", "data race"
EXPECTED: dict[str, tuple[Status, str]] = {
    "rmsnorm/one_block.cu": (Status.passed, ""),
    "rmsnorm/raw_kernel.py": (Status.passed, ""),
    "rmsnorm/inline.py": (Status.passed, ""),
    "rmsnorm/wrong_stride.cu": (Status.wrong_result, ""),
    "rmsnorm/fp16_accumulation.cu": (Status.wrong_result, ""),
    "rmsnorm/python_float.py": (Status.launch_failed, "a Python float is passed as 8 bytes of double"),
    "rmsnorm/off_by_one.py": (Status.launch_failed, ""),
    "rmsnorm/missing_sync.cu": (Status.launch_failed, RACE),
    "rmsnorm/race.cu": (Status.launch_failed, RACE),
    "softmax/one_block.cu": (Status.passed, ""),
    "softmax/raw_kernel.py": (Status.passed, ""),
    "softmax/inline.py": (Status.passed, ""),
    "softmax/missing_sync.cu": (Status.launch_failed, RACE),
    "softmax/race.py": (Status.launch_failed, RACE),
    "softmax/off_by_one.py": (Status.launch_failed, BOUNDS),
    "softmax/wrong_stride.cu": (Status.wrong_result, ""),
    "softmax/fp16_accumulation.cu": (Status.wrong_result, ""),
    "matmul/tiled.cu": (Status.passed, ""),
    "matmul/raw_kernel.py": (Status.passed, ""),
    "matmul/inline.py": (Status.passed, ""),
    "matmul/missing_sync.py": (Status.launch_failed, RACE),
    "matmul/off_by_one.cu": (Status.launch_failed, BOUNDS),
    "matmul/wrong_stride.py": (Status.launch_failed, BOUNDS),
    "matmul/race.cu": (Status.launch_failed, RACE),
    "matmul/fp16_accumulation.cu": (Status.wrong_result, ""),
    "reduction/shuffles.cu": (Status.passed, ""),
    "reduction/raw_kernel.py": (Status.passed, ""),
    "reduction/inline.py": (Status.passed, ""),
    "reduction/missing_sync.py": (Status.launch_failed, RACE),
    "reduction/race.cu": (Status.launch_failed, RACE),
    "reduction/half_warp.py": (Status.wrong_result, ""),
    "reduction/fp16_accumulation.cu": (Status.wrong_result, ""),
    "reduction/off_by_one.cu": (Status.launch_failed, BOUNDS),
    "reduction/wrong_stride.cu": (Status.wrong_result, ""),
}
"""Status on the emulator, and how the message begins when a kernel failed."""

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch"),
    pytest.mark.skipif(
        not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="the emulator needs a C++ compiler"
    ),
]


def load(name: str) -> tasks.Item:
    path = FOLDER / name
    alone = path.suffix == ".py" and "def reference" in path.read_text()
    return tasks.load([path], None if alone else path.parent / "task.py")


@pytest.fixture(scope="module")
def engine():
    with Engine(target="cuda:cpu", plan=Plan(), workers=1) as engine:
        yield engine


def test_every_example_has_an_expected_status() -> None:
    found = {str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.*") if p.suffix in (".py", ".cu")}
    assert {name for name in found if not name.endswith("task.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_status(engine, name) -> None:
    status, message = EXPECTED[name]
    verdict = engine.verify(load(name))
    assert verdict.status is status, verdict.message
    assert verdict.message.startswith(message) or message in verdict.message, verdict.message
    assert verdict.emulated and str(verdict.target) == "cuda:cpu"
    if message in (BOUNDS, RACE):
        source = (FOLDER / name).read_text().split("\n")
        assert verdict.line and "[" in source[verdict.line - 1], "the line is one that touches memory"
        assert "block (" in verdict.message and "thread (" in verdict.message
        assert f"line {verdict.line}" in verdict.message


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_example_says_its_status_itself(name) -> None:
    first = (FOLDER / name).read_text().split("\n")[0]
    status = EXPECTED[name][0]
    assert ("Passes." in first) if status is Status.passed else (f"Expected: {status}" in first)


def test_what_passes_is_compiled_for_a_chip_where_there_is_a_compiler(engine) -> None:
    if not engine.target_info.companions:
        pytest.skip(engine.target_info.note)
    for name in ("softmax/one_block.cu", "softmax/raw_kernel.py", "softmax/inline.py"):
        verdict = engine.verify(load(name))
        compiled = {str(a.target): a.kernels for a in verdict.stages.compile.artifacts}
        (kernel,) = compiled["cuda:sm_90"]
        assert kernel.name == "softmax" and 10 < kernel.registers < 80 and kernel.spills == 0
        assert kernel.shared_bytes == 512


def test_without_checks_a_race_is_not_seen(engine) -> None:
    with Engine(target="cuda:cpu", compile_for=(), plan=Plan(sanitize=False), workers=1) as unchecked:
        verdict = unchecked.verify(load("softmax/race.py"))
    assert verdict.status is not Status.launch_failed
    assert engine.verify(load("softmax/race.py")).status is Status.launch_failed
