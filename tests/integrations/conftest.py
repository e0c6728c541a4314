"""Answers of a model for the toy backend, and graders that judge them in this process."""

from __future__ import annotations

import os

import pytest
from kengine.client.client import close_shared
from kengine.integrations import grading
from toy_items import GOOD, TASK

RIGHT = f"It adds in parts of 64.\n\n```python\n{GOOD}```\n"
WRONG = RIGHT.replace("x[rows] + y[rows]", "x[rows] - y[rows]")
BROKEN = "```python\ndef candidate(x, y:\n```"
GIVEN = {"target": "toy:cpu", "parameters": {"speed": 0}, "workers": 1, "plan": {"cases": 1}}
REWARDS = {"right": 0.5, "wrong": 0.1, "broken": 0.0}
"""What `staged` without speed gives for RIGHT, WRONG and BROKEN."""


@pytest.fixture(scope="session", autouse=True)
def _closed():
    yield
    close_shared()


@pytest.fixture
def environment(monkeypatch):
    """Keywords by environment, for the trainers that pass none."""
    for name in list(os.environ):
        if name.startswith("KENGINE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("KENGINE_TARGET", "toy:cpu")
    monkeypatch.setenv("KENGINE_REWARD", "correctness")
    monkeypatch.setenv("KENGINE_WORKERS", "1")
    return monkeypatch


@pytest.fixture
def lost(monkeypatch):
    """Every sample is one that the machine failed on."""
    from kengine import WorkerLost
    from kengine.client.client import Client

    async def judge(self, items, deadline_s=None):
        return [WorkerLost("the judge died") for _ in items]

    monkeypatch.setattr(Client, "_judge", judge)
    return monkeypatch


@pytest.fixture
def toy():
    from types import SimpleNamespace

    return SimpleNamespace(task=TASK, right=RIGHT, wrong=WRONG, broken=BROKEN, given=dict(GIVEN), rewards=REWARDS)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(grading, "_graders", {})
