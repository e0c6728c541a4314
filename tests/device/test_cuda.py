"""CUDA on a device: every form launches, its launches are counted and can be withheld, and it is timed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from kengine import Engine, Plan, Status, tasks
from kengine.model import Capability
from kengine.plugins.backend import load

pytestmark = pytest.mark.device
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "cuda"
PASSING = {
    "softmax/one_block.cu": "softmax", "softmax/raw_kernel.py": "softmax", "softmax/inline.py": "softmax",
    "matmul/tiled.cu": "matmul", "matmul/raw_kernel.py": "matmul", "matmul/inline.py": "matmul",
    "reduction/shuffles.cu": "row_sum", "rmsnorm/one_block.cu": "rmsnorm", "rmsnorm/raw_kernel.py": "rmsnorm",
    "rmsnorm/inline.py": "rmsnorm",
}  # fmt: skip
WRONG = {
    "rmsnorm/wrong_stride.cu": {Status.wrong_result}, "reduction/half_warp.py": {Status.wrong_result},
    "reduction/fp16_accumulation.cu": {Status.wrong_result}, "rmsnorm/python_float.py": {Status.wrong_result},
}  # fmt: skip


def item(name: str):
    path = EXAMPLES / name
    alone = path.suffix == ".py" and "def reference" in path.read_text()
    if name.endswith(".py") and "cupy" in path.read_text() and importlib.util.find_spec("cupy") is None:
        pytest.skip("needs cupy")
    return tasks.load([path], None if alone else path.parent / "task.py")


@pytest.fixture(scope="module")
def target() -> str:
    able = [i for i in load("cuda").targets() if Capability.launch in i.capabilities and not i.emulated]
    if not able:
        pytest.skip("no CUDA device")
    return str(able[0].target)


@pytest.fixture(scope="module")
def engine(target):
    with Engine(target=target, plan=Plan(), workers=1) as engine:
        yield engine


@pytest.fixture(scope="module")
def timing_engine(target):
    with Engine(target=target, plan=Plan(time=True, time_budget_s=1.0), workers=1) as engine:
        yield engine


@pytest.mark.parametrize("name", sorted(PASSING))
def test_passes(engine, name: str) -> None:
    verdict = engine.verify(item(name))
    assert verdict.status is Status.passed, f"{verdict.message}\n{verdict.log}"
    kernels = {launch.kernel.partition("<")[0] for case in verdict.stages.launch.launches for launch in case}
    assert kernels == {PASSING[name]}
    assert all(check.ok for check in verdict.stages.integrity.checks)


@pytest.mark.parametrize("name", sorted(WRONG))
def test_fails(engine, name: str) -> None:
    assert engine.verify(item(name)).status in WRONG[name]


@pytest.mark.parametrize("name", ["softmax/one_block.cu", "softmax/raw_kernel.py", "softmax/inline.py"])
def test_compile_errors_have_the_line(engine, name: str) -> None:
    text = (EXAMPLES / name).read_text().replace("float sum = 0.0f;", "float sum = zero;")
    verdict = engine.verify(tasks.parse(text, Path(name).name, (EXAMPLES / "softmax/task.py").read_text()))
    assert verdict.status is Status.compile_failed, verdict.message
    assert "zero" in verdict.message and "zero" in text.split("\n")[verdict.line - 1]


def test_a_wrapper_that_does_it_all_is_a_sham(engine) -> None:
    text = (
        (EXAMPLES / "softmax/raw_kernel.py")
        .read_text()
        .replace("    return y", "    return (x.exp().T / x.exp().sum(1)).T")
    )
    verdict = engine.verify(tasks.parse(text, "k.py", (EXAMPLES / "softmax/task.py").read_text()))
    assert verdict.status in (Status.sham, Status.wrong_result), verdict.message


@pytest.mark.parametrize("name", ["softmax/one_block.cu", "softmax/raw_kernel.py", "softmax/inline.py"])
def test_times(timing_engine, name: str) -> None:
    verdict = timing_engine.verify(item(name))
    assert verdict.status is Status.passed, verdict.message
    (case,) = verdict.stages.time.cases
    assert min(case.candidate_ns) > 500 and case.low <= case.speedup <= case.high
