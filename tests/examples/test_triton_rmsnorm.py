"""The shipped RMSNorm examples get exactly the status that they say of themselves."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from kengine import Engine, Plan, Status, TargetUnavailable, tasks

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "triton" / "rmsnorm"
EXPECTED = {
    "one_row": Status.passed,
    "blocked": Status.passed,
    "multi_row": Status.passed,
    "tiny_block": Status.passed,
    "missing_constexpr": Status.compile_failed,
    "subtracts_mean": Status.wrong_result,
    "fp16_accumulation": Status.wrong_result,
    "framework_code": Status.lint_rejected,
    "sham": Status.sham,
}
"""On an emulator; nothing there is ever too slow."""

pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("torch", "triton")),
    reason="needs torch and triton: pip install 'kernel-engine[triton]'",
)


@pytest.fixture(scope="module")
def engine():
    with Engine(target="triton:interpret", plan=Plan()) as engine:
        yield engine


@pytest.fixture(scope="module")
def unlinted():
    """An engine whose lint rules are switched off, so that the later stages have to find what is wrong."""
    with Engine(target="triton:interpret", plan=Plan(ignore=("KE", "KT"))) as engine:
        yield engine


def test_every_example_has_an_expected_status() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_status(engine, name) -> None:
    verdict = engine.verify(tasks.load([FOLDER / f"{name}.py"]))
    assert verdict.status is EXPECTED[name], verdict.message
    assert verdict.emulated and verdict.self_referenced
    assert str(verdict.target) == "triton:interpret"


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_example_says_its_status_itself(name) -> None:
    text = (FOLDER / f"{name}.py").read_text().split('"""')[1]
    if name == "tiny_block":
        assert "expected too_slow on a device" in text
    elif EXPECTED[name] is Status.passed:
        assert "Passes." in text
    else:
        assert re.search(rf"Expected: (\w+ or )?{EXPECTED[name]}\b", text)


def test_passes_are_compiled_for_real_chips_too(engine) -> None:
    verdict = engine.verify(tasks.load([FOLDER / "multi_row.py"]))
    compiled = {str(a.target): a.kernels for a in verdict.stages.compile.artifacts}
    assert len(compiled) > 1 and "triton:interpret" in compiled
    for target, kernels in compiled.items():
        if target != "triton:interpret":
            assert {k.name for k in kernels} == {"normalize_tile"}, target
            assert all(k.registers and k.registers > 0 for k in kernels)


def test_the_compilers_message_and_line_are_shown(engine) -> None:
    path = FOLDER / "missing_constexpr.py"
    verdict = engine.verify(tasks.load([path]))
    assert "constexpr" in verdict.message
    assert "tl.arange(0, LANES)" in path.read_text().splitlines()[verdict.line - 1]
    assert "arange" in verdict.log


def test_fp16_goes_wrong_on_the_long_row_only(engine) -> None:
    verdict = engine.verify(tasks.load([FOLDER / "fp16_accumulation.py"]))
    results = {c.case: c.ok for c in verdict.stages.compare.comparisons}
    assert [ok for case, ok in results.items() if "131072" in case] == [False]
    assert all(ok for case, ok in results.items() if "131072" not in case) and len(results) == 3


def test_subtracting_the_mean_shows_expected_and_got(engine) -> None:
    verdict = engine.verify(tasks.load([FOLDER / "subtracts_mean.py"]))
    wrong = next(c for c in verdict.stages.compare.comparisons if not c.ok)
    assert wrong.worst is not None and wrong.worst.expected != wrong.worst.got
    assert wrong.error_ratio > 10 and wrong.wrong > 0.5 * wrong.total


@pytest.mark.parametrize("name", ["framework_code", "sham"])
def test_without_lint_the_knock_out_finds_a_sham(unlinted, name) -> None:
    verdict = unlinted.verify(tasks.load([FOLDER / f"{name}.py"]))
    assert verdict.status is Status.sham, verdict.message
    failed = [c for c in verdict.stages.integrity.checks if c.ran and not c.ok]
    assert [c.name for c in failed] == [{"framework_code": "launched", "sham": "launches do nothing"}[name]]


@pytest.mark.parametrize("name", ["one_row", "blocked", "multi_row"])
def test_task_and_candidate_apart_say_the_same(engine, name) -> None:
    verdict = engine.verify(tasks.load([FOLDER / "task" / f"{name}.py"], FOLDER / "task" / "task.py"))
    assert verdict.status is Status.passed, verdict.message
    assert not verdict.self_referenced and verdict.task.name == "rmsnorm"
    assert len(verdict.stages.compare.comparisons) == 8


def test_a_single_file_is_judged_by_another_task_when_one_is_given(engine) -> None:
    verdict = engine.verify(tasks.load([FOLDER / "one_row.py"], FOLDER / "task" / "task.py"))
    assert verdict.status is Status.passed, verdict.message
    assert not verdict.self_referenced


def test_kernelbench_module_with_a_weight(engine) -> None:
    folder = FOLDER / "kernelbench"
    verdict = engine.verify(tasks.load([folder / "one_row.py"], folder / "model.py"))
    assert verdict.status is Status.passed, verdict.message
    assert (verdict.task.form, verdict.candidate.entry) == ("module", "ModelNew")


def test_kernelbench_module_that_leaves_its_weight_out(engine) -> None:
    folder = FOLDER / "kernelbench"
    text = (folder / "one_row.py").read_text().replace("values * scale * gains", "values * scale")
    item = tasks.pair(text, tasks.parse_task((folder / "model.py").read_text(), "model.py"))
    assert engine.verify(item).status is Status.wrong_result


def test_the_task_for_devices_is_refused_on_an_emulator(engine) -> None:
    with pytest.raises(TargetUnavailable, match=r"cuda|GPU|device"):
        engine.verify(tasks.load([FOLDER / "tiny_block.py"], FOLDER / "task" / "long_rows.py"))


def on_device(plan: Plan) -> Engine:
    """An engine on the device of this machine; skips where there is none."""
    try:
        return Engine(backend="triton", plan=plan, workers=1)
    except TargetUnavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def device_engine():
    """One for all: importing torch into its processes takes longer than all that they are asked."""
    with on_device(Plan(device_only=True)) as engine:
        yield engine


@pytest.fixture(scope="module")
def strict_engine():
    """With a bar of 3 times the reference run eagerly, which passes over its rows some ten times: tiles of 16 elements
    reach 2.1 times on an H200."""
    with on_device(Plan(device_only=True, min_speedup=3.0)) as engine:
        yield engine


@pytest.mark.device
@pytest.mark.parametrize(("name", "status"), [("one_row", Status.passed), ("tiny_block", Status.too_slow)])
def test_speed_on_a_device(strict_engine, name, status) -> None:
    verdict = strict_engine.verify(tasks.load([FOLDER / f"{name}.py"], FOLDER / "task" / "long_rows.py"))
    assert verdict.status is status, verdict.message
    assert not verdict.emulated and verdict.speedup is not None


@pytest.mark.device
@pytest.mark.parametrize("name", sorted(set(EXPECTED) - {"tiny_block"}))
def test_status_on_a_device(device_engine, name) -> None:
    verdict = device_engine.verify(tasks.load([FOLDER / f"{name}.py"]))
    assert verdict.status is EXPECTED[name], verdict.message
