"""Each published reward with numbers from its own source."""

import pytest
from kengine import rewards
from kengine.errors import UsageError

EXACT = {"rel": 1e-12, "abs": 1e-12}


@pytest.mark.parametrize(
    ("status", "speedup", "value"),
    [
        ("compile_failed", None, 0.0),
        ("launch_failed", None, 0.1),
        ("wrong_result", None, 0.1),
        ("passed", 0.5, 0.5),
        ("passed", 1.0, 0.5),
        ("passed", 2.0, 0.75),
        ("passed", 4.0, 1.0),
        ("passed", 400.0, 1.0),
        ("too_slow", 1.0, 0.5),
    ],
)
def test_staged(verdict, status, speedup, value) -> None:
    assert rewards.staged(verdict(status, speedup)) == pytest.approx(value, **EXACT)


def test_staged_without_speed_works_on_an_emulator(verdict) -> None:
    assert rewards.staged(verdict("passed", emulated=True), speed=0) == 0.5
    assert rewards.correctness(verdict("passed", emulated=True)) == 1.0
    assert rewards.correctness(verdict("wrong_result", emulated=True), compiled=0.2) == 0.2


def test_staged_wants_a_full_above_one(verdict) -> None:
    with pytest.raises(UsageError, match="full: want a speed-up above 1"):
        rewards.staged(verdict("passed", 2.0), full=1.0)


def test_fast_p_is_strict_as_in_kernelbench(verdict) -> None:
    assert rewards.fast_p(verdict("passed", 1.0)) == 0.0
    assert rewards.fast_p(verdict("passed", 1.0001)) == 1.0
    assert rewards.fast_p(verdict("passed", 1.9), p=2) == 0.0
    assert rewards.fast_p(verdict("wrong_result")) == 0.0


def test_fast_0_is_correctness_and_needs_no_time(verdict) -> None:
    assert rewards.fast_p(verdict("passed", emulated=True), p=0) == 1.0
    assert rewards.fast_p(verdict("passed", 0.0), p=0) == 1.0


def test_kevin(verdict) -> None:
    """0.3 for being right, plus the speed-up: the paper's means of 1.10 after and 0.53 before training."""
    assert rewards.kevin(verdict("passed", 1.10)) == pytest.approx(1.40, **EXACT)
    assert rewards.kevin(verdict("passed", 0.53)) == pytest.approx(0.83, **EXACT)
    assert rewards.kevin(verdict("wrong_result")) == 0.0
    assert rewards.kevin(verdict("compile_failed")) == 0.0
    assert rewards.kevin(verdict("sham")) == 0.0


def test_kevins_turns(verdict) -> None:
    """Gamma 0.4: a wrong first turn that leads to a right second one is worth 0.4 of it."""
    turns = [rewards.kevin(verdict("wrong_result")), rewards.kevin(verdict("passed", 1.0))]
    assert rewards.returns(turns, gamma=0.4) == pytest.approx([0.52, 1.3], **EXACT)


def test_kernelbench_tinker(verdict) -> None:
    assert rewards.kernelbench_tinker(verdict("passed", 2.0)) == pytest.approx(2.3, **EXACT)
    assert rewards.kernelbench_tinker(verdict("passed", 25.0)) == pytest.approx(10.3, **EXACT)
    assert rewards.kernelbench_tinker(verdict("lint_rejected")) == 0.0


@pytest.mark.parametrize(
    ("status", "speedup", "value"),
    [
        ("compile_failed", None, 0.0),
        ("wrong_result", None, 0.4),
        ("crashed", None, 0.4),
        ("passed", 0.25, 1.4),
        ("passed", 1.0, 1.4),
        ("passed", 2.0, 1.775),
        ("passed", 4.0, 2.9),
        ("passed", 64.0, 2.9),
    ],
)
def test_amd_kernel_vault_has_a_range_of_0_to_2_9(verdict, status, speedup, value) -> None:
    assert rewards.amd_kernel_vault(verdict(status, speedup)) == pytest.approx(value, **EXACT)


def test_amd_kernel_vaults_three_turns(verdict) -> None:
    """G = r1 + 0.6 r2 + 0.36 r3."""
    turns = [
        rewards.amd_kernel_vault(verdict(s, x)) for s, x in (("wrong_result", None), ("passed", 1.0), ("passed", 4.0))
    ]
    assert rewards.returns(turns, gamma=0.6)[0] == pytest.approx(0.4 + 0.6 * 1.4 + 0.36 * 2.9, **EXACT)


def test_amd_hip_as_its_readme_computes_it(verdict) -> None:
    """reward/README.md: a correct kernel that is no copy has 0.3 + 2.0 + 0.3 = 2.6 at a speed-up of 2; a copy has 0."""
    assert rewards.amd_hip(verdict("passed", 2.0)) == pytest.approx(2.6, **EXACT)
    assert rewards.amd_hip(verdict("passed", 2.0), distance=0.05) == 0.0
    assert rewards.amd_hip(verdict("passed", 1.1)) == pytest.approx(1.4, **EXACT)
    assert rewards.amd_hip(verdict("passed", 30.0)) == pytest.approx(10.6, **EXACT)
    for status in ("compile_failed", "crashed", "wrong_result", "sham"):
        assert rewards.amd_hip(verdict(status)) == 0.0


@pytest.mark.parametrize(
    ("status", "speedup", "distance", "value"),
    [
        ("compile_failed", None, 1.0, -0.9),
        ("sham", None, 1.0, -0.9),
        ("launch_failed", None, 1.0, -0.7),
        ("wrong_result", None, 1.0, -0.3),
        ("passed", 1.0, 1.0, 0.3 + 0.25),
        ("passed", 1.0, 0.15, 0.3),
        ("passed", 0.0, 0.15, -0.2),
        ("passed", 3.0, 0.10, 0.3 + 1.0 - 0.25),
        ("passed", 50.0, 0.20, 0.3 + 4.5 + 0.25),
        ("passed", 50.0, 0.05, -0.2),
        ("passed", 0.0, 0.05, -0.45),
    ],
)
def test_amd_hip_novelty(verdict, status, speedup, distance, value) -> None:
    assert rewards.amd_hip_novelty(verdict(status, speedup), distance=distance) == pytest.approx(value, **EXACT)


def test_amd_hip_legacy(verdict) -> None:
    """Its documented range: -0.9 to 0.5 + 1 + 0.125 = 1.625, reached at a speed-up of 100."""
    assert rewards.amd_hip_legacy(verdict("passed", 1.5), distance=0.15) == pytest.approx(0.6985, abs=1e-4)
    assert rewards.amd_hip_legacy(verdict("passed", 100.0)) == pytest.approx(1.625, **EXACT)
    assert rewards.amd_hip_legacy(verdict("passed", 0.0)) == pytest.approx(0.625, **EXACT)
    assert rewards.amd_hip_legacy(verdict("passed", 9.0), distance=0.07) == -0.2
    assert rewards.amd_hip_legacy(verdict("wrong_result")) == 0.0
    assert rewards.amd_hip_legacy(verdict("crashed")) == -0.5
    assert rewards.amd_hip_legacy(verdict("compile_failed")) == -0.9


@pytest.mark.parametrize("distance", [-0.1, 1.1, float("nan"), "near"])
def test_a_distance_is_a_share(verdict, distance) -> None:
    for reward in (rewards.amd_hip, rewards.amd_hip_novelty, rewards.amd_hip_legacy):
        with pytest.raises(UsageError, match="distance"):
            reward(verdict("passed", 1.0), distance=distance)


@pytest.mark.parametrize(
    ("status", "eager", "compiled", "value"),
    [
        ("compile_failed", None, None, -1.0),
        ("wrong_result", None, None, -1.0),
        ("sham", None, None, -1.0),
        ("passed", 0.7, None, 1.0),
        ("passed", 1.05, 2.0, 1.0),
        ("passed", 1.06, 1.05, 2.0),
        ("passed", 1.06, 0.9, 2.0),
        ("passed", 1.06, 1.06, 3.0),
    ],
)
def test_cuda_agents_four_steps(verdict, status, eager, compiled, value) -> None:
    assert rewards.cuda_agent(verdict(status, eager), against_compile=compiled) == value


def test_cuda_agent_takes_the_other_verdict(verdict, change) -> None:
    eager, other = verdict("passed", 2.0), verdict("passed", 1.5)
    record = change(other.stages.time, baseline="compile")
    other = change(other, stages=change(other.stages, time=record))
    assert rewards.cuda_agent(eager, against_compile=other) == 3.0
    noisy = change(other, stages=change(other.stages, time=change(record, label="unclear")))
    assert rewards.cuda_agent(eager, against_compile=noisy) == 2.0
    with pytest.raises(UsageError, match="timed against torch"):
        rewards.cuda_agent(other, against_compile=eager)
    with pytest.raises(UsageError, match="timed against eager"):
        rewards.cuda_agent(eager, against_compile=eager)
    stranger = change(other, candidate=change(other.candidate, entry="other"))
    with pytest.raises(UsageError, match="another candidate"):
        rewards.cuda_agent(eager, against_compile=stranger)


def test_cuda_agent_says_what_it_lacks(verdict) -> None:
    with pytest.raises(UsageError, match="against_compile"):
        rewards.cuda_agent(verdict("passed", 2.0))
    assert rewards.cuda_agent(verdict("passed", 2.0), unknown=2) == 2
    for wrong in (float("nan"), -1.0, True):
        with pytest.raises(UsageError, match="against_compile: want"):
            rewards.cuda_agent(verdict("passed", 2.0), against_compile=wrong)


def test_cuda_l1_is_the_speedup_then_smoothed(verdict) -> None:
    raw = [rewards.cuda_l1(verdict("passed", s)) for s in (1.0, 1.0, 1.0, 9.0)] + [rewards.cuda_l1(verdict("crashed"))]
    assert raw == [1.0, 1.0, 1.0, 9.0, 0.0]
    smooth = rewards.standardized(raw, limit=1.5)
    assert smooth[3] == 1.5 and min(smooth) > -1.5


def test_autotriton_is_a_product_without_speed(verdict) -> None:
    assert rewards.autotriton(verdict("passed", emulated=True)) == 1.0
    for status in ("lint_rejected", "wrong_result", "sham", "timed_out"):
        assert rewards.autotriton(verdict(status, emulated=True)) == 0.0


def test_tritonrl_credits_plan_and_code_apart(verdict) -> None:
    """A right kernel at half the speed is perfect code and a poor plan; alpha is 0.1."""
    slow, wrong, sham = verdict("passed", 0.5), verdict("wrong_result"), verdict("sham")
    assert [rewards.tritonrl_code(v) for v in (slow, wrong, sham)] == [1.0, 0.0, 0.0]
    assert [rewards.tritonrl_plan(v) for v in (slow, wrong, sham)] == [0.5, 0.0, 0.0]
    assert rewards.tritonrl(slow) == pytest.approx(1.05, **EXACT)
    assert rewards.spread(2.0, -1.0, [True, True, False]) == pytest.approx([0.2, 0.2, -1.0], **EXACT)
    with pytest.raises(UsageError, match="is_plan"):
        rewards.spread(1.0, 1.0, [0.5])


def test_dr_kernel(verdict) -> None:
    """Correctness, speed-up up to 3 and profiling ratio: 1 + 3 + 1 is the most that can be had."""
    assert rewards.dr_kernel(verdict("passed", 1.2, coverage=0.862)) == pytest.approx(3.062, **EXACT)
    assert rewards.dr_kernel(verdict("passed", 7.0, coverage=1.0)) == 5.0
    assert rewards.dr_kernel(verdict("wrong_result", coverage=1.0)) == 0.0
    assert rewards.kernelgym(verdict("passed", 7.0, coverage=1.0)) == 2.5
    assert rewards.kernelgym(verdict("passed", 1.0, coverage=0.3)) == pytest.approx(1.15, **EXACT)
    assert rewards.kernelgym(verdict("launch_failed")) == 0.0


def test_coverage_is_needed_or_given(verdict) -> None:
    bare = verdict("passed", 1.0)
    for reward in (rewards.dr_kernel, rewards.kernelgym):
        with pytest.raises(UsageError, match="pass default_coverage"):
            reward(bare)
    assert rewards.dr_kernel(bare, default_coverage=0.25) == 2.25
    assert rewards.dr_kernel(verdict("passed", 1.0, coverage=0.0), default_coverage=0.25) == 2.0
    assert rewards.kernelgym(bare, covered=0) == 1.0


@pytest.mark.parametrize("value", [1.5, -0.1, "most", True])
def test_a_coverage_that_is_no_share(verdict, value) -> None:
    with pytest.raises(UsageError, match="coverage is"):
        rewards.dr_kernel(verdict("passed", 1.0, coverage=value))


def test_sol_score_has_half_at_the_baseline_and_one_at_the_bound(verdict) -> None:
    """The candidate of every test verdict takes 1000 ns."""
    assert rewards.sol_score(verdict("passed", 1.0), sol_ns=400.0) == pytest.approx(0.5, **EXACT)
    assert rewards.sol_score(verdict("passed", 4.0), sol_ns=1000.0) == 1.0
    assert rewards.sol_score(verdict("passed", 4.0), sol_ns=1200.0) == 1.0
    assert rewards.sol_score(verdict("passed", 2.0), sol_ns={"n=64": 500.0}) == pytest.approx(0.75, **EXACT)
    assert rewards.sol_score(verdict("passed", 2.0), sol_ns=500.0, baseline_ns=1000.0) == pytest.approx(0.5, **EXACT)
    assert rewards.sol_score(verdict("wrong_result"), sol_ns=500.0) == 0.0


def test_sol_score_refuses_what_makes_no_sense(verdict, change) -> None:
    right = verdict("passed", 2.0)
    with pytest.raises(UsageError, match="not slower than the bound"):
        rewards.sol_score(right, sol_ns=2000.0)
    with pytest.raises(UsageError, match="no time for case 'n=64'"):
        rewards.sol_score(right, sol_ns={"n=1": 5.0})
    with pytest.raises(UsageError, match="sol_ns: want a time above 0"):
        rewards.sol_score(right, sol_ns=0)
    bare = change(right, stages=change(right.stages, time=None))
    with pytest.raises(UsageError, match="times of single cases"):
        rewards.sol_score(bare, sol_ns=1.0)


def test_find_takes_names_and_parameters(verdict) -> None:
    assert rewards.find("kevin")(verdict("passed", 1.0)) == 1.3
    assert rewards.find("kevin", {"correct": 1.0})(verdict("passed", 1.0)) == 2.0
    assert rewards.find("kengine.rewards.kernelbench:kevin")(verdict("passed", 1.0)) == 1.3
    with pytest.raises(UsageError, match="did you mean 'kevin'"):
        rewards.find("kevim")
    with pytest.raises(UsageError, match="takes no 'corect'; it takes correct"):
        rewards.find("kevin", {"corect": 1})
    with pytest.raises(UsageError, match="needs sol_ns"):
        rewards.find("sol_score")
    for name in ("no.such.module:f", "kengine.rewards.kernelbench:nothing", ":f"):
        with pytest.raises(UsageError, match="cannot be loaded"):
            rewards.find(name)
    with pytest.raises(UsageError, match="expected a function"):
        rewards.find("kengine.rewards.presets:HOME")
