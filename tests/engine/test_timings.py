"""The time stage against a judge that plays: what is recorded, asked once more, and said when a clock does not work."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from kengine import Plan
from kengine.engine import judge, timings
from kengine.engine.device import Device
from kengine.errors import CandidateFault, DeviceLost, TaskError
from kengine.model import TimeRecord

LOST = TimeRecord(device={"device": "a GPU", "unmeasured": "no recorder"})
TIMED = TimeRecord(speedup=1.5, label="faster", device={"device": "a GPU"})


MORE = "more"


class Job:
    def __init__(self, **plan):
        self.plan = Plan(time=True, **plan)
        self.records, self.faults, self.stages = [], [], []

    @contextmanager
    def stage(self, name):
        self.stages.append(name)
        yield

    def record(self, time):
        self.records.append(time)

    def fail(self, stage, fault):
        self.faults.append((stage, fault.status, fault.message))


class Judge:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.plans, self.prepared = [], []

    def prepare(self, task, cases, plan, timeout_s, holder):
        assert holder == "r1"
        assert not self.device._alone, "inputs are drawn before the device is held"
        self.prepared.append(plan)

    def time(self, task, cases, runner, plan, timeout_s):
        assert self.prepared[-1] == plan
        assert runner.device._alone, "the device is not held alone"
        self.plans.append(plan)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if answer is MORE:
            return None
        return answer if isinstance(answer, tuple) else (answer, None)


def execution(*answers):
    device = Device()
    runner = SimpleNamespace(device=device, holder="r1", kill=lambda: killed.append(True))
    killed: list[bool] = []
    made = SimpleNamespace(runner=runner, device=device, judge=Judge(*answers), task=SimpleNamespace(cases=[1]))
    made.killed, made.judge.device = killed, device
    return made


def test_what_is_measured_is_recorded():
    job, made = Job(), execution(TIMED)
    assert timings.measure(job, made) is False
    assert job.records == [TIMED] and job.faults == [] and job.stages == ["wait", "time"]
    assert made.judge.plans == [job.plan.timing_json()]


def test_a_fresh_runner_tries_before_another_clock_does():
    job, made = Job(), execution(LOST)
    assert timings.measure(job, made, last=False) is True
    assert (job.records, job.faults, len(made.judge.plans)) == ([], [], 1)
    assert timings.measure(job, execution(TIMED), last=True) is False
    assert job.records == [TIMED] and job.faults == []


def test_events_are_the_clock_of_all_when_activity_is_not_to_be_had():
    job, made = Job(), execution(LOST, TIMED)
    assert timings.measure(job, made) is False
    assert made.judge.plans == [job.plan.timing_json(), {**job.plan.timing_json(), "method": "event"}]
    (record,) = job.records
    assert (record.speedup, record.device) == (1.5, {"device": "a GPU", "no_activity": "no recorder"})
    assert job.faults == []


def test_without_any_clock_the_machine_is_at_fault():
    job = Job()
    with pytest.raises(DeviceLost, match="neither activity nor events could be measured: no recorder; no recorder"):
        timings.measure(job, execution(LOST, LOST))
    assert job.records == [] and job.faults == []


def test_faults_stay_the_candidates():
    fault = CandidateFault("tampered", "times that add up to more")
    for answers in ([(None, fault)], [LOST, (None, fault)]):
        job = Job()
        timings.measure(job, execution(*answers))
        assert job.records == [] and job.faults == [("time", "tampered", "times that add up to more")]
    for answers in ([TimeoutError("90 s")], [LOST, TimeoutError("90 s")]):
        job, made = Job(), execution(*answers)
        assert timings.measure(job, made, last=True) is False
        assert job.faults == [("time", "timed_out", "timing did not end: 90 s")] and made.killed == [True]
    job = Job(min_speedup=2.0)
    timings.measure(job, execution(LOST, TIMED))
    assert job.faults == [("time", "too_slow", "speedup 1.5, asked for 2")]


def test_the_device_is_given_back_between_two_measurements():
    job, made = Job(), execution(LOST, TIMED)
    timings.measure(job, made)
    assert job.stages == ["wait", "time"] * 2 and not made.device._alone


def test_a_reference_that_is_too_slow_for_timing_is_the_tasks_fault():
    ours, theirs = socket.socketpair()
    process = SimpleNamespace(sock=ours, innermost=2**22 + 1, sandboxed=True, output=SimpleNamespace(text=str))
    process.wait_ready, process.kill = lambda: None, ours.close
    made = judge.Judge(lambda: process, 1.0)
    made._start()
    task = SimpleNamespace(id="t", generation=1, name="slow", filename="slow.py")
    with theirs, pytest.raises(TaskError, match=r"^task 'slow': the inputs .* were not drawn within 0.1 s"):
        made.prepare(task, [0], {}, 0.1)


def test_a_timing_that_does_not_end_within_the_reference_is_no_fault_of_the_candidate():
    job, made = Job(), execution(judge.Overrun("90 s", "task.py:5 in reference"))
    made.task.name = "slow"
    with pytest.raises(TaskError, match=r"^task 'slow' \(task.py:5 in reference\): timing did not end within"):
        timings.measure(job, made)
    assert job.faults == [] and made.killed == [True]
    job, made = Job(), execution(judge.Overrun("90 s"))
    timings.measure(job, made, last=True)
    assert job.faults == [("time", "timed_out", "timing did not end: 90 s")]


def test_the_device_is_given_back_while_more_is_drawn():
    job, made = Job(), execution(MORE, MORE, TIMED)
    assert timings.measure(job, made) is False
    assert job.records == [TIMED] and job.stages == ["wait", "time"] * 3 and not made.device._alone
    assert len(made.judge.prepared) == len(made.judge.plans) == 3
