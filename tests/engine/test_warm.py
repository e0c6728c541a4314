"""Warming up: standbys are ready when it returns, and what a device's judge needs is imported by then."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kengine import Plan
from kengine.engine.crew import Crew
from kengine.errors import WorkerLost
from kengine.plugins import backend as backends


@pytest.fixture
def crew():
    made = Crew(Plan(), standbys=2)
    yield made
    made.close()


@pytest.fixture
def backend():
    return backends.load("toy")


def standbys(crew):
    return [runner for queue in crew._ready.values() for runner in queue]


def test_standbys_are_ready_and_are_what_candidates_get(crew, backend):
    (info,) = backend.targets()
    crew.warm(info, backend)
    ready = standbys(crew)
    assert len(ready) == 2 and all(runner.sandbox and runner.alive() for runner in ready)
    with crew.runner(info, backend.module) as runner:
        assert runner is ready[0]
    assert [name for name in crew.processes() if "judge" in name] == []  # which one it is depends on the task


def test_the_judges_of_a_device_start_beside_and_open_it(crew, backend, monkeypatch):
    from kengine.engine.judge import Judge

    inner, reserved = Judge.reserve, []

    def reserve(judge, device):
        reserved.append((judge, device))
        inner(judge, device)  # there is none here: a judge that cannot open it is asked again by a task

    monkeypatch.setattr(Judge, "reserve", reserve)
    (info,) = backend.targets()
    crew.warm(replace(info, device="cuda"), backend)
    found = {name: pid for name, pid in crew.processes().items() if "judge" in name}
    assert list(found) == ["zygote judge", "judge 0"] and all(found.values())
    assert len(standbys(crew)) == 2
    judge = crew.judge(replace(info, device="cuda"), make_task("any"), backend)
    assert reserved == [(judge, "cuda")]


def test_a_standby_that_does_not_get_ready_is_left_out(crew, backend, monkeypatch):
    from kengine.engine.runner import Runner

    (info,) = backend.targets()
    inner, waited = Runner.wait_ready, []

    def wait(runner):
        waited.append(runner)
        if len(waited) == 1:
            raise WorkerLost("a runner could not get ready")
        inner(runner)

    monkeypatch.setattr(Runner, "wait_ready", wait)
    crew.warm(info, backend)
    assert standbys(crew) == [waited[1]] and waited[0].ended
    with crew.runner(info, backend.module) as runner:
        assert runner is waited[1]


def test_runners_of_a_device_open_it_with_few_queues(crew, backend, monkeypatch):
    from kengine.engine import crew as crews

    given = []

    class Noted(crews.Runner):
        def __init__(self, *args):
            given.append(args[-1])
            super().__init__(*args)

    monkeypatch.setattr(crews, "Runner", Noted)
    (info,) = backend.targets()
    with crew.runner(info, backend.module):
        pass
    with crew.runner(replace(info, device="cuda"), backend.module):
        pass
    one = {"CUDA_DEVICE_MAX_CONNECTIONS": "1", "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1", "CUDA_DISABLE_PERF_BOOST": "1"}
    assert given[0] == {} and one in given and not any(found not in ({}, one) for found in given)


def make_task(name):
    from kengine import tasks

    text = f"# {name}\ndef make_inputs(seed, device):\n    return ()\n\n\ndef reference():\n    return 1\n"
    return tasks.parse("def candidate():\n    return 1\n", "c.py", task_text=text).task


def test_tasks_are_spread_over_the_judges(backend):
    (info,) = backend.targets()
    made = Crew(Plan(), standbys=16)
    try:
        tasks = [make_task(n) for n in range(40)]
        judges = [made.judge(info, task, backend) for task in tasks]
        assert len(set(judges)) == 3
        assert [made.judge(info, task, backend) for task in tasks] == judges  # each task keeps its own
    finally:
        made.close()


def test_few_candidates_side_by_side_have_one_judge(crew, backend):
    (info,) = backend.targets()
    assert len({crew.judge(info, make_task(n), backend) for n in range(12)}) == 1
