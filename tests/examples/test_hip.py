"""The shipped HIP examples get exactly the status that they say of themselves, on wavefronts of 64 lanes."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from kengine import Engine, Plan, Status, tasks
from kengine_hip import toolchain

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "hip"
PASSED, WRONG, FAILED = Status.passed, Status.wrong_result, Status.launch_failed
EXPECTED = {
    "rmsnorm/one_block.hip": (PASSED, "right on 8 cases"),
    "rmsnorm/raw_kernel.py": (PASSED, "right on 8 cases"),
    "rmsnorm/inline.py": (PASSED, "right on 8 cases"),
    "rmsnorm/wrong_stride.hip": (WRONG, "strided"),
    "rmsnorm/fp16_accumulation.hip": (WRONG, "elements are wrong"),
    "rmsnorm/narrow_wave.hip": (WRONG, "2 of 4 rows"),
    "rmsnorm/race.hip": (FAILED, "data race"),
    "rmsnorm/missing_sync.hip": (FAILED, "data race"),
    "rmsnorm/off_by_one.hip": (FAILED, "out-of-bounds read"),
    "softmax/one_block.hip": (PASSED, "right on 5 cases"),
    "softmax/raw_kernel.py": (PASSED, "right on 5 cases"),
    "softmax/inline.py": (PASSED, "right on 5 cases"),
    "softmax/race.hip": (FAILED, "data race: write of 4 bytes at byte offset 0 of shared 'scratch'"),
    "softmax/missing_sync.hip": (FAILED, "data race"),
    "softmax/off_by_one.hip": (FAILED, "data race: write of 4 bytes at byte offset "),
    "softmax/wrong_stride.hip": (WRONG, "elements are wrong"),
    "softmax/fp16_accumulation.hip": (WRONG, "elements are wrong"),
    "softmax/narrow_wave.hip": (WRONG, "elements are wrong"),
    "matmul/tiled.hip": (PASSED, "right on 4 cases"),
    "matmul/raw_kernel.py": (PASSED, "right on 4 cases"),
    "matmul/inline.py": (PASSED, "right on 4 cases"),
    "matmul/missing_sync.hip": (FAILED, "data race"),
    "matmul/off_by_one.hip": (FAILED, "out-of-bounds read of 4 bytes at byte offset 6600 of 'a' (6600 bytes)"),
    "matmul/shuffles.hip": (PASSED, "right on 4 cases"),
    "matmul/shuffles_raw_kernel.py": (PASSED, "right on 4 cases"),
    "matmul/shuffles_inline.py": (PASSED, "right on 4 cases"),
    "matmul/narrow_wave.hip": (WRONG, "elements are wrong"),
    "matmul/wrong_stride.hip": (WRONG, "elements are wrong"),
    "matmul/race.hip": (FAILED, "data race"),
    "matmul/fp16_accumulation.hip": (WRONG, "elements are wrong"),
    "reduction/shuffles.hip": (PASSED, "right on 4 cases"),
    "reduction/raw_kernel.py": (PASSED, "right on 4 cases"),
    "reduction/inline.py": (PASSED, "right on 4 cases"),
    "reduction/race.hip": (FAILED, "data race: read of 4 bytes at byte offset 0 of 'total'"),
    "reduction/narrow_wave.hip": (WRONG, "elements are wrong"),
    "reduction/fp16_accumulation.hip": (WRONG, "elements are wrong"),
    "reduction/off_by_one.hip": (FAILED, "out-of-bounds read of 4 bytes at byte offset 4000 of 'x' (4000 bytes)"),
    "reduction/missing_sync.hip": (FAILED, "data race"),
    "reduction/wrong_stride.hip": (WRONG, "elements are wrong"),
    "hip2hip/one_block.hip": (PASSED, "right on 4 cases"),
    "hip2hip/lost_wave.hip": (WRONG, "elements are wrong"),
    "hip2hip/race.hip": (FAILED, "data race"),
    "hip2hip/missing_sync.hip": (FAILED, "data race"),
    "hip2hip/off_by_one.hip": (FAILED, "out-of-bounds read"),
    "hip2hip/wrong_stride.hip": (WRONG, "elements are wrong"),
    "hip2hip/fp16_accumulation.hip": (WRONG, "elements are wrong"),
}
LINES = {
    "softmax/race.hip": "scratch[threadIdx.x] = v",
    "softmax/off_by_one.hip": "y[blockIdx.x * width + i]",
    "matmul/missing_sync.hip": "left[threadIdx.y]",
    "matmul/off_by_one.hip": "a[row * k + i]",
    "reduction/race.hip": "*total += sum",
    "rmsnorm/race.hip": "sums[wave] = square",
    "hip2hip/race.hip": "sums[threadIdx.x / warpSize] = sum",
    "hip2hip/off_by_one.hip": "float v = x[blockIdx.x * width + i]",
    "reduction/off_by_one.hip": "sum += x[i]",
}
"""What stands on the line that a verdict names."""

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch: pip install torch"),
    pytest.mark.slow,
]


def load(name: str):
    folder = FOLDER / name.partition("/")[0]
    task = next(path for path in (folder / "task.py", folder / "task.hip") if path.exists())
    return tasks.load([FOLDER / name], task)


@pytest.fixture(scope="module")
def engine():
    with Engine(target="hip:cpu", plan=Plan(), workers=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def verdicts(engine):
    return {name: engine.verify(load(name)) for name in EXPECTED}


def test_every_example_has_an_expected_status() -> None:
    found = {str(path.relative_to(FOLDER)) for path in FOLDER.glob("*/*") if path.stem != "task" and path.is_file()}
    assert found == set(EXPECTED)


@pytest.mark.parametrize("name", list(EXPECTED))
def test_status(verdicts, name) -> None:
    status, part = EXPECTED[name]
    verdict = verdicts[name]
    assert verdict.status is status, verdict.message
    assert part in verdict.message
    assert verdict.emulated and str(verdict.target) == "hip:cpu"
    if name in LINES:
        text = (FOLDER / name).read_text().split("\n")
        assert LINES[name] in text[verdict.line - 1]


@pytest.mark.parametrize("name", list(EXPECTED))
def test_the_example_says_its_status_itself(name) -> None:
    head = "\n".join((FOLDER / name).read_text().split("\n")[:2])
    assert ("Passes." in head) if EXPECTED[name][0] is PASSED else (f"Expected: {EXPECTED[name][0]}" in head)


def test_kernels_are_compiled_for_the_chip_too(verdicts) -> None:
    if toolchain.missing():
        pytest.skip(toolchain.missing())
    for name, (status, _) in EXPECTED.items():
        compiled = {str(a.target): a for a in verdicts[name].stages.compile.artifacts}
        assert "hip:gfx942" in compiled, name
        kernels = compiled["hip:gfx942"].kernels
        assert kernels, name
        for kernel in kernels:
            assert kernel.registers and 0 < kernel.occupancy <= 1 and kernel.details["wavefront_size"] == 64
        assert status is not Status.compile_failed


def test_the_other_width_is_told(verdicts, engine) -> None:
    details = verdicts["reduction/shuffles.hip"].stages.launch.details
    assert details["with_32_lanes"] == "same answer"
    wrong = verdicts["reduction/narrow_wave.hip"].stages.launch.details
    assert str(wrong["with_32_lanes"]).startswith("differs: output 0")
    with Engine(target="hip:cpu-gfx1100", plan=Plan(), workers=1) as narrow:
        verdict = narrow.verify(load("reduction/narrow_wave.hip"))
    assert verdict.status is Status.passed, verdict.message
    assert str(verdict.stages.launch.details["with_64_lanes"]).startswith("differs: output 0")
