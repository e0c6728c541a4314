"""Compiles beside the launch: whose faults count, what is waited for and what is given up."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from kengine.engine import companions
from kengine.errors import CandidateFault, InfraError
from kengine.model import Artifact, Capability, Target, TargetInfo

A, B, C = (Target("toy", name) for name in ("a", "b", "c"))


def info(target, capability=Capability.compile):
    return TargetInfo(target, "", frozenset({capability}))


class Runner:
    def __init__(self):
        self.holder, self.until, self.ended = "r1", None, threading.Event()

    def kill(self):
        self.ended.set()


@pytest.fixture
def begin(monkeypatch):
    """Start companions whose compiles do what `doing[target]` says: an artifact is returned, an exception raised, a
    function called with the runner. `.runners` and `.released` are what the crew lent and the judge took back."""

    def make(doing, targets=(A, B), until=None, known=(A, B, C), ours=C, offers=Capability.compile):
        runners, released = [], []

        class Execution:
            def __init__(self, job, judge, task, runner, device):
                self.runner = runner

            def compile(self, target):
                what = doing[target]
                made = what(self.runner) if callable(what) else what
                if isinstance(made, BaseException):
                    raise made
                return made

        @contextmanager
        def lend(info, module):
            runner = Runner()
            runners.append(runner)
            yield runner
            runner.kill()

        monkeypatch.setattr(companions, "Execution", Execution)
        backend = SimpleNamespace(module="m", targets=lambda: [info(t, offers) for t in known])
        job = SimpleNamespace(backend=backend, compile_for=targets, info=info(ours), until=until)
        judge = SimpleNamespace(release=released.append)
        begun = companions.start(job, SimpleNamespace(runner=lend), judge, None)
        begun.runners, begun.released = runners, released
        return begun

    return make


def test_artifacts_come_in_the_order_of_the_targets(begin):
    def late(runner):
        time.sleep(0.1)
        return Artifact(A)

    begun = begin({A: late, B: Artifact(B)}, until=7.5)
    assert begun.result() == ((Artifact(A), Artifact(B)), None)
    assert [runner.until for runner in begun.runners] == [7.5, 7.5] and begun.released == ["r1", "r1"]


def test_the_first_fault_is_told_with_its_target_and_the_others_artifacts_stay(begin):
    faults = {A: CandidateFault("compile_failed", "one", "log", 3), B: CandidateFault("compile_failed", "toy:b: two")}
    artifacts, fault = begin({**faults, C: Artifact(C)}, (A, B, C), ours=Target("toy", "other")).result()
    assert artifacts == (Artifact(C),)
    assert (fault.status, fault.message, fault.log, fault.line) == ("compile_failed", "toy:a: one", "log", 3)
    _, fault = begin({**faults, A: Artifact(A)}).result()
    assert fault.message == "toy:b: two"


def test_a_compile_that_could_not_be_tried_is_no_fault(begin):
    doing = {A: CandidateFault("unsupported", "not here"), B: CandidateFault("compile_failed", "bad")}
    assert begin(doing).result()[1].message == "toy:b: bad"
    assert begin({A: doing[A], B: Artifact(B)}).result() == ((Artifact(B),), None)


def test_the_machines_fault_is_raised(begin):
    with pytest.raises(InfraError, match="no disk"):
        begin({A: InfraError("no disk"), B: Artifact(B)}).result()


def test_what_is_abandoned_is_ended_and_says_nothing(begin, monkeypatch):
    monkeypatch.setattr(companions, "GRACE_S", 0.05)

    def endless(runner):
        assert runner.ended.wait(20), "nobody has ended it"
        return CandidateFault("crashed", "it was killed")

    begun = begin({A: endless, B: Artifact(B)})
    started = time.monotonic()
    begun.abandon()
    assert begun.result() == ((Artifact(B),), None)
    assert time.monotonic() - started < 10


def test_only_targets_that_are_others_and_can_compile_here(begin):
    nothing = {t: AssertionError(f"{t} is compiled") for t in (A, B, C)}
    assert begin({**nothing, A: Artifact(A)}, (A, C, Target("toy", "unknown"))).result() == ((Artifact(A),), None)
    assert begin(nothing, offers=Capability.launch).result() == ((), None)
