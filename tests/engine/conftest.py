"""An engine for hostile candidates, and the check that nothing of theirs is left behind."""

from __future__ import annotations

import time

import pytest
from kengine import Engine, Limits, Plan
from toy_items import GOOD, TASK, descendants, item, settled


@pytest.fixture(scope="module")
def engine():
    limits = Limits(memory_bytes=256 << 20, disk_bytes=64 << 20, file_bytes=32 << 20, processes=64, cpu_s=20)
    # Lint would turn most of them away at the door; here the walls behind it are tried.
    plan = Plan(cases=2, launch_timeout_s=3.0, compile_timeout_s=5.0, limits=limits, ignore=("KE",))
    with Engine(target="toy:cpu", plan=plan, workers=1) as engine:
        yield engine


@pytest.fixture
def verdict_of(engine):
    """Judge a hostile candidate, then an honest one: it must be judged as if nothing had been."""
    assert engine.verify(item(GOOD)).status == "passed"
    before = len(descendants())

    def judge(text, task=TASK):
        begun = time.monotonic()
        verdict = engine.verify(item(text, task))
        assert time.monotonic() - begun < 20, "it outlived its deadline"
        honest = engine.verify(item(GOOD))
        assert honest.status == "passed", honest.message
        assert settled(before), f"left running: {descendants()}"
        return verdict

    return judge
