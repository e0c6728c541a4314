"""The course of all checks: which one decides, what its status is, and what happens after it."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from kengine.engine import integrity
from kengine.engine.integrity import calls
from kengine.errors import CandidateFault
from kengine.model import Check, LaunchRecord, Stages


class Job:
    """As much of a job as the checks need."""

    def __init__(self, keep_going=False):
        self.plan = SimpleNamespace(keep_going=keep_going)
        self.stages = Stages(launch=LaunchRecord(details={"own": 1}))
        self.faults = []
        self.stage = lambda name: nullcontext()

    def record(self, **records):
        for name, record in records.items():
            object.__setattr__(self.stages, name, record)

    def fail(self, stage, fault):
        self.faults.append((stage, fault))


def passed(name):
    return lambda course: Check(name, True, True, "fine")


def failed(name, evidence="bad"):
    return lambda course: Check(name, True, False, evidence)


def raises(fault):
    def run(course):
        raise fault

    return run


@pytest.fixture
def run(monkeypatch):
    """A function that runs checks (name, status, function) and reviews, and gives the job."""

    def runs(checks, reviews=(), keep_going=False, ended=False):
        monkeypatch.setattr(integrity, "_CHECKS", tuple(checks))
        monkeypatch.setattr(integrity, "_REVIEWS", tuple(reviews))
        job, execution = Job(keep_going), SimpleNamespace(runner=SimpleNamespace(ended=ended))
        integrity.check(job, execution, [])
        return job

    return runs


def seen(job):
    return [(c.name, c.ran, c.ok) for c in job.stages.integrity.checks]


def test_all_that_hold_are_recorded(run):
    job = run([("a", "sham", passed("a"))], [("b", "sham", passed("b"))])
    assert job.faults == [] and seen(job) == [("a", True, True), ("b", True, True)]


def test_the_first_that_does_not_hold_decides(run):
    checks = [("a", "sham", passed("a")), ("b", "tampered", failed("b")), ("c", "sham", failed("c"))]
    job = run(checks)
    ((stage, fault),) = job.faults
    assert (stage, fault.status, fault.message) == ("integrity", "tampered", "b: bad")
    assert seen(job) == [("a", True, True), ("b", True, False)]
    job = run(checks, keep_going=True)
    ((_, fault),) = job.faults
    assert fault.message == "b: bad" and [name for name, _, _ in seen(job)] == ["a", "b", "c"]


def test_a_check_that_did_not_run_holds_nothing_against_anybody(run):
    job = run([("a", "sham", lambda course: Check("a", False, False, "not possible here"))])
    assert job.faults == [] and seen(job) == [("a", False, False)]


@pytest.mark.parametrize(
    ("ended_in", "status"),
    [
        ("tampered", "tampered"),
        ("timed_out", "timed_out"),
        ("crashed", "crashed"),
        ("launch_failed", "wrong_result"),
        ("unsupported", "wrong_result"),
    ],
)
def test_a_candidate_that_ends_in_a_check(run, ended_in, status):
    job = run([("a", "wrong_result", raises(CandidateFault(ended_in, "oh")))])
    ((_, fault),) = job.faults
    assert (fault.status, fault.message) == (status, f"a: it ended in {ended_in}: oh")


def test_a_call_without_a_launch_is_a_sham_whatever_the_check(run):
    job = run([("a", "wrong_result", failed("a", f"{calls.IDLE} in call 2"))])
    assert job.faults[0][1].status == "sham"


def test_after_the_end_of_a_runner_only_reviews_are_made(run):
    job = run([("a", "sham", failed("a"))], [("review", "sham", failed("review"))], ended=True)
    assert seen(job) == [("a", False, True), ("review", True, False)]
    assert job.faults[0][1].message == "review: bad"


def test_figures_are_added_to_the_launch_record(run):
    def review(course):
        course.details["coverage"] = 0.5
        return Check("r", True, True, "fine")

    job = run([], [("r", "sham", review)])
    assert job.stages.launch.details == {"own": 1, "coverage": 0.5}


def test_every_check_has_its_place_and_status():
    order = [(name, status) for name, status, _ in (*integrity._CHECKS, *integrity._REVIEWS)]
    wanted = [
        ("launched", "sham"),
        ("fresh contents", "wrong_result"),
        ("near contents", "wrong_result"),
        ("sequence", "wrong_result"),
        ("repeat", "nondeterministic"),
        ("held outputs", "wrong_result"),
        ("unfollowed calls", "sham"),
        ("global state", "tampered"),
        ("background work", "tampered"),
        ("launches do nothing", "sham"),
        ("launches raise", "sham"),
        ("provenance", "sham"),
        ("coverage", "sham"),
    ]
    assert [each for each in order if each in wanted] == wanted
    assert len({name for name, _ in order}) == len(order)


@pytest.mark.parametrize("status", ["sham", "tampered", "wrong_result", "nondeterministic"])
def test_each_status_fails_the_candidate(run, status):
    ((_, fault),) = run([("a", status, failed("a"))]).faults
    assert fault.status == status
