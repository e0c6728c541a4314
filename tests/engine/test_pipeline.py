"""The direction of one candidate: who is asked, in which order, and which of several faults decides."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import kengine
import pytest
from kengine.config import Plan
from kengine.engine import pipeline
from kengine.engine.job import Job
from kengine.errors import CandidateFault, ContractViolation, InfraError
from kengine.model import Artifact, Case, Comparison, Finding, Launch, LintRecord, Mode
from kengine.plugins import backend as backends
from toy_items import GOOD, TASK, item


class Bench:
    """Everything around the pipeline. `asked` lists what was done; the attributes say what happens."""

    def __init__(self, monkeypatch):
        self.asked = []
        self.findings = ()
        self.cases = (Case("a"), Case("b"), Case("c"))
        self.wrong = set()
        self.compiles = None
        self.refusal = None
        self.launch_fault = None
        bench = self

        class Execution:
            stage = "compile"

            def __init__(self, job, judge, task, runner, device):
                self.task, self.runner = task, runner

            def compile(self, target):
                bench.asked.append("compile")
                if bench.compiles:
                    raise bench.compiles
                return Artifact(target)

            def check(self, case, phase, mode=Mode.normal, elsewhere=False):
                self.stage = "launch"
                bench.asked.append(f"case {case}" + (" followed" if mode is Mode.traced else ""))
                if bench.launch_fault and case == 1:
                    raise bench.launch_fault
                name = bench.cases[case].name
                return Comparison(name, case not in bench.wrong, "wrong"), (Launch(f"k{case}", (1,)),), {name: case}

        class Beside:
            def abandon(self):
                bench.asked.append("abandon")

            def result(self):
                return (), bench.refusal

        monkeypatch.setattr(pipeline, "Execution", Execution)
        monkeypatch.setattr(pipeline.companions, "start", lambda *_: Beside())
        monkeypatch.setattr(pipeline.integrity, "check", lambda *_: bench.asked.append("integrity"))
        monkeypatch.setattr(pipeline.integrity, "order", lambda cases: list(reversed(range(len(cases)))))
        monkeypatch.setattr(pipeline.integrity, "elsewhere", lambda cases: frozenset())
        monkeypatch.setattr(pipeline.lint, "check", lambda *_: LintRecord(tuple(bench.findings)))
        monkeypatch.setattr(pipeline.opinions, "add", lambda job: bench.asked.append("opinions"))

    def _judge(self, kind):
        self.asked.append(kind)
        opened = SimpleNamespace(cases=self.cases, elapsed_ns=0, skipped={}, notes=(), views=())
        return SimpleNamespace(open=lambda *_: opened, release=lambda holder: self.asked.append(f"release {holder}"))

    def judge(self, *_):
        return self._judge("long-lived judge")

    @contextmanager
    def own_judge(self, *_):
        yield self._judge("own judge")

    @contextmanager
    def runner(self, info, module):
        output = SimpleNamespace(text=lambda: "printed")
        try:
            yield SimpleNamespace(holder="r1", sandbox=("seccomp",), until=None, ended=False, output=output)
        finally:
            self.asked.append("runner killed")

    def run(self, one=None, **plan):
        backend = backends.load("toy")
        one = one or item(GOOD)
        job = Job(one.candidate, one.task, backend.targets()[0], backend, Plan(**plan), "00" * 16)
        return pipeline.run(job, self, None)


@pytest.fixture
def bench(monkeypatch):
    return Bench(monkeypatch)


def test_the_whole_way_of_a_good_one(bench):
    verdict = bench.run()
    assert verdict.passed and verdict.message == "right on 3 cases" and verdict.environment.sandbox == ("seccomp",)
    assert bench.asked == [
        "long-lived judge", "compile", "case 2", "case 1", "case 0", "integrity", "release r1", "runner killed",
        "opinions",
    ]  # fmt: skip
    launch, compare = verdict.stages.launch, verdict.stages.compare
    assert [seen[0].kernel for seen in launch.launches] == ["k0", "k1", "k2"], "as listed, not as called"
    assert [c.case for c in compare.comparisons] == ["a", "b", "c"]
    assert launch.details == {"a": 0, "b": 1, "c": 2} and launch.output == "printed"


def test_a_task_that_came_with_the_candidate_never_meets_the_long_lived_judge(bench):
    assert bench.run(kengine.tasks.parse(TASK + GOOD, "single.py")).self_referenced
    assert bench.asked[0] == "own judge" and "long-lived judge" not in bench.asked


def test_what_lint_rejects_is_not_run_unless_one_wants_to_see_it_all(bench):
    bench.findings = (Finding("KE900", "warn", "w"), Finding("KE901", "reject", "bad", line=4))
    verdict = bench.run()
    assert (verdict.status, verdict.stage, verdict.line, verdict.message) == ("lint_rejected", "lint", 4, "KE901: bad")
    assert bench.asked == []
    assert bench.run(keep_going=True).status == "lint_rejected" and "case 0" in bench.asked
    assert "integrity" not in bench.asked


@pytest.mark.parametrize(
    ("change", "status", "stage"),
    [
        (("def candidate(x, y):", "def candidate(x):"), "launch_failed", "launch"),
        (("def candidate(x, y):", "def candidate(x, y:"), "compile_failed", "compile"),
    ],
)
def test_what_the_text_alone_shows_starts_nothing(bench, change, status, stage):
    verdict = bench.run(item(GOOD.replace(*change)))
    assert (verdict.status, verdict.stage) == (status, stage) and bench.asked == []


def test_integrity_is_looked_at_only_where_everything_is_right(bench):
    bench.wrong = {1}
    verdict = bench.run(keep_going=True)
    assert (verdict.status, verdict.stage, verdict.message) == ("wrong_result", "compare", "b: wrong")
    assert len(verdict.stages.compare.comparisons) == 3 and "integrity" not in bench.asked
    bench.asked.clear()
    assert [c.case for c in bench.run().stages.compare.comparisons] == ["b", "c"]
    assert bench.asked[1:4] == ["compile", "case 2", "case 1"]


@pytest.mark.parametrize("plan", [{"integrity": False}, {"check": False}])
def test_what_the_plan_leaves_out_is_left_out(bench, plan):
    verdict = bench.run(**plan)
    assert verdict.passed and "integrity" not in bench.asked
    assert ("opinions" in bench.asked) == ("case 0" in bench.asked) == ("check" not in plan)


@pytest.mark.parametrize("fault", [CandidateFault("timed_out", "slow"), CandidateFault("crashed", "dead")])
def test_only_a_candidate_that_has_no_time_left_ends_the_compiles_beside_it(bench, fault):
    bench.launch_fault = fault
    verdict = bench.run()
    assert (verdict.status, verdict.stage) == (fault.status, "launch")
    assert ("abandon" in bench.asked) == (fault.status == "timed_out")
    assert [done for done in bench.asked if done != "abandon"][-3:] == ["release r1", "runner killed", "opinions"]
    assert [c.case for c in verdict.stages.compare.comparisons] == ["c"], "what was seen before is told"
    assert verdict.stages.launch.details == {"c": 2}


def test_what_the_chips_own_compiler_refuses_comes_first(bench):
    bench.wrong, bench.refusal = {0}, CandidateFault("compile_failed", "toy:b: too many registers")
    verdict = bench.run()
    assert (verdict.status, verdict.stage, verdict.message) == (
        "compile_failed", "compile", "toy:b: too many registers"
    )  # fmt: skip
    assert verdict.stages.compile.artifacts and verdict.stages.compare.comparisons


def test_the_machines_fault_gives_back_what_was_lent(bench):
    bench.compiles = InfraError("no disk")
    with pytest.raises(InfraError, match="no disk"):
        bench.run()
    assert bench.asked[-2:] == ["release r1", "runner killed"]


def test_a_run_in_which_nothing_was_compared_passes_nobody(bench):
    bench.cases = ()
    with pytest.raises(ContractViolation, match="without a comparison and without a fault"):
        bench.run()


def test_a_clock_that_fails_in_one_runner_is_tried_in_a_fresh_one(bench, monkeypatch):
    failing = iter([True, False])

    def measure(job, execution, last=True):
        bench.asked.append(f"time, last {last}")
        return next(failing) and not last

    monkeypatch.setattr(pipeline.timings, "measure", measure)
    assert bench.run(time=True).passed
    first, second = (n for n, said in enumerate(bench.asked) if said.startswith("time"))
    assert (bench.asked[first], bench.asked[second]) == ("time, last False", "time, last True")
    assert bench.asked[first + 1 : second] == ["release r1", "runner killed", "compile"]
