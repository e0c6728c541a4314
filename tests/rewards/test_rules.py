"""What holds of every preset: who has no reward, who is never praised, what is refused, and that it can be pickled."""

import functools
import inspect
import pickle
import re

import pytest
from kengine import rewards
from kengine.errors import DeviceLost, InfraError, TaskError, UsageError
from kengine.model import Check, IntegrityRecord, Status
from kengine.rewards.presets import HOME

GIVEN = {"sol_score": {"sol_ns": 0.5}, "cuda_agent": {"unknown": 2.0}, "dr_kernel": {"default_coverage": 0.5},
         "kernelgym": {"default_coverage": 0.5}}  # fmt: skip
"""What a preset cannot do without."""
WITHOUT_SPEED = {"correctness", "autotriton", "tritonrl_code"}
EVERY = sorted(HOME)
SPEEDY = sorted(set(HOME) - WITHOUT_SPEED)


def preset(name: str):
    return functools.partial(getattr(rewards, name), **GIVEN.get(name, {}))


def test_every_preset_is_exported_with_formula_and_source() -> None:
    assert len(EVERY) == 18
    for name in EVERY:
        function = getattr(rewards, name)
        assert name in rewards.__all__ and function.__doc__
        assert function.__module__ == HOME[name]
        # Python 3.13 takes the indentation off, getdoc does in each.
        assert re.search(r"\n\n {4}\S", inspect.getdoc(function) or ""), f"{name}: no formula on lines of its own"
        if name not in ("correctness", "staged"):
            assert any(s in function.__doc__ for s in ("arXiv", "reward.py", "ource", "paper")), name


@pytest.mark.parametrize("name", EVERY)
def test_faults_of_the_machine_have_no_reward(name, verdict) -> None:
    reward = preset(name)
    for judged in (None, InfraError("worker lost"), DeviceLost("gone"), verdict("unsupported"),
                   verdict("unsupported", emulated=True)):  # fmt: skip
        assert reward(judged) is None


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("status", ["sham", "tampered"])
@pytest.mark.parametrize("stage", ["launch", "integrity", "time"])
def test_an_integrity_failure_is_never_positive(name, status, stage, verdict) -> None:
    value = preset(name)(verdict(status, 50.0, stage=stage, coverage=1.0))
    assert isinstance(value, float) and value <= 0


@pytest.mark.parametrize("name", EVERY)
def test_a_failed_check_counts_whatever_the_status_says(name, verdict, change) -> None:
    right = verdict("passed", 50.0, coverage=1.0)
    record = IntegrityRecord((Check("launches raise", True, False),))
    assert preset(name)(change(right, stages=change(right.stages, integrity=record))) <= 0
    not_run = IntegrityRecord((Check("launches raise", False, False),))
    assert preset(name)(change(right, stages=change(right.stages, integrity=not_run))) > 0


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("status", [s for s in Status if s not in (Status.unsupported, Status.passed, Status.too_slow)])
def test_what_is_not_right_earns_less_than_what_is(name, status, verdict) -> None:
    right = preset(name)(verdict("passed", 1.0, label="same", coverage=0.5))
    assert preset(name)(verdict(str(status))) < (right or 0.1)


@pytest.mark.parametrize("name", SPEEDY)
@pytest.mark.parametrize("status", ["passed", "wrong_result", "compile_failed", "sham"])
def test_speed_on_an_emulator_is_refused_at_the_first_sample(name, status, verdict) -> None:
    with pytest.raises(UsageError, match="triton:interpret is an emulator: it never times"):
        preset(name)(verdict(status, emulated=True))


@pytest.mark.parametrize("name", SPEEDY)
def test_speed_without_timing_is_refused(name, verdict) -> None:
    with pytest.raises(UsageError, match=r"Plan\(time=True\)"):
        preset(name)(verdict("passed"))
    with pytest.raises(UsageError, match=r"Plan\(time=True\)"):
        preset(name)(verdict("wrong_result", plan={"time": False}))
    assert preset(name)(verdict("wrong_result", plan={"time": True})) is not None


@pytest.mark.parametrize("name", sorted(WITHOUT_SPEED))
def test_the_others_work_on_an_emulator(name, verdict) -> None:
    assert preset(name)(verdict("passed", emulated=True)) == 1.0


@pytest.mark.parametrize("name", SPEEDY)
def test_unclear_speed_earns_no_speed_credit(name, verdict, unclear) -> None:
    """However large the number, it is worth what a speed-up of 0 is, or of 1 where speed can be punished."""
    neutral = 1.0 if name == "amd_hip_novelty" else 0.0
    huge = verdict("passed", 90.0, label="unclear", coverage=0.5)
    if name == "sol_score":
        assert preset(name)(huge) == preset(name)(unclear) == 0.0
        return
    assert preset(name)(huge) == preset(name)(verdict("passed", neutral, label="same", coverage=0.5))
    assert preset(name)(huge) <= preset(name)(verdict("passed", 1.0, label="same", coverage=0.5))


def test_unclear_can_count_as_the_baseline_and_never_as_more_than_measured(verdict) -> None:
    assert rewards.kevin(verdict("passed", 1.5, label="unclear"), unclear=1.0) == 1.3
    assert rewards.kevin(verdict("passed", 0.5, label="unclear"), unclear=1.0) == 0.8
    assert rewards.amd_hip_novelty(verdict("passed", 0.5, label="unclear")) < rewards.amd_hip_novelty(
        verdict("passed", 1.5, label="unclear")
    )


@pytest.mark.parametrize("name", EVERY)
def test_self_referenced_is_refused_unless_allowed(name, verdict) -> None:
    own = verdict("passed", 2.0, self_referenced=True, coverage=0.5)
    with pytest.raises(UsageError, match="self-referenced"):
        preset(name)(own)
    assert preset(name)(own, allow_self_referenced=True) == preset(name)(verdict("passed", 2.0, coverage=0.5))


@pytest.mark.parametrize("name", SPEEDY)
@pytest.mark.parametrize("speedup", [float("nan"), float("inf"), -1.0, -0.0001])
def test_a_speedup_that_is_no_measurement(name, speedup, verdict, change) -> None:
    with pytest.raises(UsageError, match="no measurement"):
        preset(name)(change(verdict("passed", 1.0), speedup=speedup))


@pytest.mark.parametrize("name", SPEEDY)
def test_a_speedup_of_zero_is_a_number(name, verdict) -> None:
    value = preset(name)(verdict("passed", 0.0, label="slower", coverage=0.5))
    assert isinstance(value, float) and value == value and value <= 1.0 + 0.5


@pytest.mark.parametrize("name", EVERY)
def test_only_compiling_is_not_being_right(name, verdict, change) -> None:
    """`kengine compile` ends in `passed` with nothing launched."""
    compiled = verdict("passed", 2.0)
    compiled = change(compiled, stages=change(compiled.stages, launch=None, compare=None, integrity=None, time=None))
    with pytest.raises(UsageError, match="nothing was launched"):
        preset(name)(compiled)


@pytest.mark.parametrize("status", ["crashed", "timed_out"])
def test_falling_over_while_compiling_is_not_compiling(status, verdict) -> None:
    assert rewards.amd_kernel_vault(verdict(status, stage="compile")) == 0.0
    assert rewards.amd_kernel_vault(verdict(status, stage="launch")) == 0.4
    assert rewards.amd_hip_novelty(verdict(status, stage="compile")) == -0.9


def test_too_slow_is_right(verdict) -> None:
    assert rewards.kevin(verdict("too_slow", 0.9, label="slower")) == 1.2


def test_a_broken_task_and_strangers_are_refused() -> None:
    with pytest.raises(UsageError, match="TaskError: the reference raises"):
        rewards.correctness(TaskError("the reference raises"))
    with pytest.raises(UsageError, match="got dict"):
        rewards.correctness({"status": "passed"})


@pytest.mark.parametrize("name", EVERY)
def test_a_preset_goes_to_a_worker(name, verdict) -> None:
    reward = pickle.loads(pickle.dumps(preset(name)))
    assert reward(verdict("passed", 2.0, coverage=1.0)) == preset(name)(verdict("passed", 2.0, coverage=1.0))
    assert pickle.loads(pickle.dumps(getattr(rewards, name))) is getattr(rewards, name)


@pytest.mark.parametrize("name", EVERY)
def test_a_parameter_that_is_no_number_is_refused(name, verdict) -> None:
    import inspect

    taken = [
        p.name for p in inspect.signature(getattr(rewards, name)).parameters.values()
        if isinstance(p.default, float) and p.name != "unclear"
    ]  # fmt: skip
    for key in taken:
        for wrong in (float("nan"), float("inf"), "1", True):
            with pytest.raises(UsageError, match=key):
                preset(name)(verdict("passed", 2.0, coverage=1.0), **{key: wrong})


def test_the_names_stay_functions_when_their_modules_were_imported_first() -> None:
    import subprocess
    import sys

    code = (
        "import sys, kengine.rewards as r\n"
        "assert 'kengine.model' not in sys.modules and 'numpy' not in sys.modules\n"
        "import pkgutil, importlib\n"
        "for m in pkgutil.iter_modules(r.__path__): importlib.import_module('kengine.rewards.' + m.name)\n"
        "assert not [n for n in r.__all__ if n != 'metrics' and type(getattr(r, n)).__name__ == 'module']\n"
        "assert 'numpy' not in sys.modules and 'rich' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_wrong_repeat_is_no_dishonesty(verdict) -> None:
    flaky = verdict("nondeterministic")
    assert [(c.name, c.ok) for c in flaky.stages.integrity.checks if not c.ok] == [("repeat", False)]
    assert rewards.correctness(flaky, compiled=0.25) == 0.25
    assert rewards.correctness(verdict("sham"), compiled=0.25) == 0.0
