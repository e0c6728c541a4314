"""Kernels of both generations as people, libraries and language models write them, through the whole engine."""

from __future__ import annotations

from typing import Any

import pytest
from nki_new_kernels import KERNELS as NEW
from nki_old_kernels import KERNELS as OLD

EVERY = {**{f"new: {name}": pair for name, pair in NEW.items()}, **{f"old: {name}": pair for name, pair in OLD.items()}}


def test_there_are_many_of_each_generation() -> None:
    assert len(NEW) >= 20 and len(OLD) >= 20


@pytest.mark.parametrize("name", EVERY)
def test_passes(judge: Any, name: str) -> None:
    text, judged = EVERY[name]
    verdict = judge(text, judged, cases=3)
    assert verdict.status == "passed", f"{verdict.message}\n{verdict.log}"
    (artifact,) = verdict.stages.compile.artifacts
    assert "race" not in artifact.details, artifact.note
    assert "warnings" not in verdict.stages.launch.details, verdict.stages.launch.details["warnings"]
    assert verdict.stages.launch.details["instructions"] > 0
