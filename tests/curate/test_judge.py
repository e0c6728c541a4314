"""What a curation keeps of a verdict, which engine gives it, and which candidate it is asked about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from kengine import codec
from kengine.config import Plan
from kengine.curate import judge as module
from kengine.curate.judge import Bench, check_targets, is_specialised, make_item, summarise
from kengine.curate.record import Loss, Sample
from kengine.curate.reject import Judging, Reject, build, make_bench
from kengine.curate.taskbook import make
from kengine.errors import TargetUnavailable, WorkerLost
from kengine.model import (
    Case,
    CaseTiming,
    CompareRecord,
    Comparison,
    LaunchRecord,
    SourceFile,
    Status,
    TimeRecord,
    Verdict,
)
from toy_items import GOOD, TASK

GOLDEN = Path(__file__).resolve().parents[1] / "core" / "golden" / "verdict-1.json"
TOY = make(TASK, "add")


@pytest.fixture(scope="module")
def golden():
    return codec.loads(GOLDEN.read_bytes(), Verdict)


def of_cases(golden, status, sizes, right):
    """A verdict whose cases c0, c1, ... have these sizes and these answers; fewer answers: it died after them."""
    cases = tuple(Case(f"c{n}", {"rows": size}) for n, size in enumerate(sizes))
    compared = tuple(Comparison(f"c{n}", ok) for n, ok in enumerate(right))
    task = replace(golden.task, spec=replace(golden.task.spec, cases=cases))
    stages = replace(golden.stages, compare=CompareRecord(compared))
    return replace(golden, status=Status(status), task=task, stages=stages)


@pytest.mark.parametrize(
    ("status", "sizes", "right", "special"),
    [
        ("wrong_result", [300, 300, 17], [True, True, False], True),
        ("crashed", [300, 17], [True], True),
        ("launch_failed", [300, 300, 17], [True, True], True),
        ("wrong_result", [300, 300, 17], [True, False, False], False),  # wrong on that shape, too
        ("wrong_result", [300, 17, 40], [True, True, False], False),  # right on two shapes
        ("wrong_result", [300, 17], [False, False], False),
        ("wrong_result", [300, 300], [True, False], False),  # there is one shape only
        ("crashed", [300, 300], [True], False),
        ("timed_out", [300, 17], [True], False),
        ("sham", [300, 17], [True, False], False),
        ("passed", [300, 17], [True, True], False),
    ],
)
def test_right_on_one_shape_alone(golden, status, sizes, right, special) -> None:
    assert is_specialised(of_cases(golden, status, sizes, right)) is special


def test_where_nothing_was_compared_nothing_is_said_of_shapes(golden) -> None:
    verdict = of_cases(golden, "crashed", [300, 17], [])
    verdict = replace(verdict, stages=replace(verdict.stages, compare=None))
    assert not is_specialised(verdict) and summarise(verdict, "toy:cpu").shapes == ""


def timing(case, *candidate_ns):
    return CaseTiming(case, candidate_ns, (1,), "m", 1.0, 1.0, 1.0, "same", 1)


def test_the_short_form_of_a_verdict(golden) -> None:
    verdict = of_cases(golden, "passed", [300, 17], [True, True])
    record = TimeRecord((timing("c0", 100, 90, 500), timing("c1"), timing("c2", 10_000)), 1.5)
    launch = LaunchRecord((), {"memory_bytes": 4096})
    verdict = replace(verdict, stages=replace(verdict.stages, time=record, launch=launch))
    short = summarise(verdict, "toy:cpu")
    assert short.latency_ns == 1000, "geometric mean of medians; a case that was not timed has none"
    assert (short.memory_bytes, short.shapes, short.cases, short.status) == (4096, "several", 2, "passed")
    said = replace(
        verdict, stages=replace(verdict.stages, launch=LaunchRecord((), {"memory_bytes": "much"}), time=None)
    )
    assert (summarise(said, "toy:cpu").memory_bytes, summarise(said, "toy:cpu").latency_ns) == (None, None)
    assert summarise(of_cases(golden, "wrong_result", [300, 17], [True, False]), "toy:cpu").shapes == "one"


def sample(*files, **given):
    named = tuple(SourceFile(path, text) for path, text in files)
    return Sample("s:1", "s", "1", files=named, **{"task": TOY, "backend": "toy", **given})


def test_the_candidate_of_a_sample_has_its_entry_and_all_its_files() -> None:
    two = GOOD.replace("def candidate", "def other") + "\n" + "def candidate(x, y):\n    return None\n"
    assert make_item(sample(("kernel.py", two))).candidate.entry == "candidate"
    item = make_item(sample(("kernel.py", two), ("lib/helper.py", "A = 1\n"), entry="other"))
    assert item.candidate.entry == "other" and item.task == TOY
    assert [(f.path, f.text) for f in item.candidate.files] == [("kernel.py", two), ("lib/helper.py", "A = 1\n")]
    another = make(TASK.replace("rows=300", "rows=17"), "short")
    assert make_item(sample(("kernel.py", GOOD)), another).task == another


def test_a_target_that_cannot_judge_a_sample_loses_it_with_its_reason(golden) -> None:
    asked = []

    def verify(target, item, uid):
        asked.append(target)
        raise TargetUnavailable("needs a device (cuda)")

    bench = SimpleNamespace(targets=("one", "two"), targets_of=lambda _: ["one", "two"], verify=verify)
    (lost,) = Judging(Reject(targets=("toy",)), bench)(sample(("kernel.py", GOOD)))
    assert isinstance(lost, Loss) and (lost.reason, lost.detail) == ("no_target", "needs a device (cuda)")
    assert asked == ["one"]


class Settings:
    seed = 0

    def fail(self, key, message, text=""):
        return ValueError(f"{key}: {message}")


def context(tmp_path, store):
    return SimpleNamespace(settings=Settings(), folder=tmp_path, jobs=1, store=store, shared={})


def test_whole_verdicts_are_kept_only_where_one_wants_them(tmp_path) -> None:
    meta = {}
    store = SimpleNamespace(meta=meta.get, set_meta=meta.__setitem__)
    for keep, kept_in, where in ((True, store, tmp_path / "verdicts"), (False, store, None), (True, None, None)):
        section = Reject(targets=("toy:cpu",), keep_verdicts=keep)
        assert make_bench(section, context(tmp_path, kept_in))._run == where
    assert len(meta["salt"]) == 32
    assert make_bench(Reject(targets=("toy:cpu",)), context(tmp_path, store))._plan.salt == meta["salt"]


def test_a_run_that_has_its_verdicts_asks_no_target(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"reject\.targets: .*nosuch"):
        check_targets(context(tmp_path, None), "reject.targets", ["nosuch:cpu"])
    unfinished = SimpleNamespace(last=lambda: None)
    with pytest.raises(ValueError, match="nosuch"):
        check_targets(context(tmp_path, unfinished), "reject.targets", ["nosuch"])
    check_targets(context(tmp_path, SimpleNamespace(last=lambda: 3)), "reject.targets", ["nosuch:cpu", "nosuch"])


def test_every_target_is_asked_for_before_the_first_sample_is_judged(tmp_path, monkeypatch) -> None:
    """One that cannot work here must not show after hours, with the first sample that is for it."""
    made = []

    def engine(self, target):
        made.append(target)
        if target == "toy:cpu":
            raise TargetUnavailable("not here")
        return SimpleNamespace(info=SimpleNamespace(emulated=True), verify=None, close=lambda: None)

    monkeypatch.setattr(module.Bench, "engine", engine)
    stage = build(Reject(targets=("toy:cpu",)), context(tmp_path, None))
    drawn = []

    def samples():
        for n in range(9):
            drawn.append(n)
            yield sample(("kernel.py", GOOD), task=None)  # asks no engine by itself

    with pytest.raises(TargetUnavailable, match="not here"):
        list(stage.run(samples()))
    assert made == ["toy:cpu"] and drawn == [0]
    assert list(stage.run(iter(()))) == [], "without samples no engine is asked for"
    assert made == ["toy:cpu"]
    stage.close()


def test_an_emulator_measures_nothing_and_a_sample_meets_targets_of_its_backend_alone(monkeypatch) -> None:
    import kengine.engine

    made = []

    class Engine:
        def __init__(self, *where, plan, compile_for, workers, run):
            made.append((where, plan.time, plan.min_speedup, compile_for, workers))

        def close(self):
            made.append("closed")

    monkeypatch.setattr(kengine.engine, "Engine", Engine)
    monkeypatch.setattr(Bench, "_emulated", lambda self, backend, target: target == "toy:cpu")
    bench = Bench(("toy:cpu", "triton"), ("toy:a", "toy:b"), Plan(time=True, min_speedup=1.5), 3)
    assert bench.targets_of(sample(backend="toy")) == ["toy:cpu"] and bench.targets_of(sample(backend="")) == []
    assert bench.engine("toy:cpu") is bench.engine("toy:cpu")
    bench.engine("triton")
    assert made == [
        ((None, "toy:cpu"), False, None, ["toy:a", "toy:b"], 3),
        (("triton", None), True, 1.5, None, 3),
    ]
    bench.close()
    assert made[2:] == ["closed", "closed"]
    with pytest.raises(WorkerLost, match="the engines were closed"):
        bench.engine("toy:cpu")  # a thread that still works after Ctrl-C starts nothing anew
