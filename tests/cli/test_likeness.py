"""Comparing two verdicts, without judging anything."""

from dataclasses import replace

import pytest
from kengine.cli.likeness import changes, compare
from kengine.model import (
    Candidate,
    CaseTiming,
    Environment,
    Finding,
    Launch,
    LaunchRecord,
    LintRecord,
    SourceFile,
    Stages,
    Status,
    Target,
    Task,
    TimeRecord,
    Verdict,
)


@pytest.fixture
def verdict() -> Verdict:
    stages = Stages(
        LintRecord((Finding("KE1", "warn", "a"),)), launch=LaunchRecord(((Launch("k", (1,)),),)),
        time=TimeRecord((CaseTiming("c", (9,), (18,), "activity", 2.0, 1.9, 2.1, "faster", 1),), 2.0, "faster"),
    )  # fmt: skip
    return Verdict(
        Status.passed, "", Target("toy", "cpu"), True, False, Task("t", "function", ""),
        Candidate((SourceFile("k.py", ""),), "f"), stages, Environment("1", "3.11", "Linux"), digests={"check/a": "00"},
    )  # fmt: skip


def states(then: Verdict, now: Verdict) -> dict[str, bool]:
    return {line.what: line.same for line in compare(then, now)}


def test_a_verdict_is_like_itself(verdict) -> None:
    assert states(verdict, verdict) == dict.fromkeys(
        ("status", "lint", "compile", "launch", "compare", "integrity", "time", "outputs"), True
    )
    assert changes(verdict, verdict) == []


def test_times_may_differ_but_not_their_label(verdict) -> None:
    case = replace(verdict.stages.time.cases[0], candidate_ns=(10,))
    other = replace(verdict, stages=replace(verdict.stages, time=TimeRecord((case,), 1.8, "faster")))
    assert states(verdict, other)["time"]
    other = replace(verdict, stages=replace(verdict.stages, time=TimeRecord((case,), 1.0, "same")))
    assert not states(verdict, other)["time"]


def test_each_difference_is_found_where_it_is(verdict) -> None:
    other = replace(
        verdict, status=Status.sham, digests={"check/a": "ff"},
        stages=replace(verdict.stages, lint=LintRecord(), launch=LaunchRecord(((Launch("k", (2,)),),)), time=None),
    )  # fmt: skip
    found = {line.what: line.text for line in compare(verdict, other) if not line.same}
    assert set(found) == {"status", "lint", "launch", "time", "outputs"}
    assert found["status"] == "passed then, sham now"
    assert found["lint"] == "1 entries then, 0 now"
    assert "grid=(1,)" in found["launch"] and "grid=(2,)" in found["launch"]
    assert found["time"] == "run then, not run now"
    assert found["outputs"] == "1 of 1 output differ"


def test_changes_of_the_environment_are_named(verdict) -> None:
    other = replace(verdict, environment=Environment("1", "3.12", "Linux", "H200", {"torch": "3"}))
    assert changes(verdict, other) == [
        "Python: 3.11 then, 3.12 now", "device: none then, H200 now", "torch: absent then, 3 now",
    ]  # fmt: skip
