"""Judging NKI candidates through whole engines that are shared by the tests of a session."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("ml_dtypes") is None:
    collect_ignore_glob = ["test_*.py"]

sys.path.insert(0, str(Path(__file__).parent / "support"))


class Judge:
    """Engines by plan, each started when it is first needed."""

    def __init__(self) -> None:
        self._engines: dict[Any, Any] = {}

    def __call__(self, candidate: str, task: Any, *, file: str = "kernel.py", **plan: Any) -> Any:
        """The verdict of a candidate's text on a task (its text, or None when one file holds both)."""
        from kengine import tasks

        item = tasks.parse(candidate, file, task) if task is None or isinstance(task, str) else None
        return self.verify(item or tasks.pair(candidate, task, file), **plan)

    def verify(self, item: Any, **plan: Any) -> Any:
        """The verdict of an item."""
        from kengine import Engine, Plan

        # What lint says of a text is tested beside its rules; here the stages behind it have to find out.
        settings = Plan(**{"ignore": ("KE", "KN"), **plan})
        if settings not in self._engines:
            self._engines[settings] = Engine(target="nki:sim", plan=settings, workers=1)
        return self._engines[settings].verify(item)

    def close(self) -> None:
        for engine in self._engines.values():
            engine.close()


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()
