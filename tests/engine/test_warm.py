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


def test_the_zygote_of_a_devices_judges_starts_beside(crew, backend):
    (info,) = backend.targets()
    crew.warm(replace(info, device="cuda"), backend)
    found = {name: pid for name, pid in crew.processes().items() if "judge" in name}
    assert list(found) == ["zygote judge"] and found["zygote judge"]
    assert len(standbys(crew)) == 2


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
