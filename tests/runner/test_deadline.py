"""How long the engine will wait, as a runner is told."""

from __future__ import annotations

import pytest
from kengine.runner import deadline


@pytest.fixture(autouse=True)
def forgotten():
    yield
    deadline.begin(None)


def test_nobody_said() -> None:
    for nothing in (None, 0, -1.0, "5", []):
        deadline.begin(nothing)
        assert deadline.remaining() is None


def test_the_time_runs_down_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: clock[0])
    deadline.begin(5)
    assert deadline.remaining() == 5.0
    clock[0] += 3.5
    assert deadline.remaining() == 1.5
    clock[0] += 10
    assert deadline.remaining() == 0.0
