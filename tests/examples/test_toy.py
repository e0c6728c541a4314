"""The toy examples need nothing but numpy."""

from __future__ import annotations

from pathlib import Path

import pytest
from kengine import Engine, Status, tasks

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "toy"
EXPECTED = {"vector_add": Status.passed, "out_of_bounds": Status.launch_failed}


def test_every_example_has_an_expected_status() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_status(name) -> None:
    with Engine(backend="toy") as engine:
        verdict = engine.verify(tasks.load([FOLDER / f"{name}.py"]))
    assert verdict.status is EXPECTED[name], verdict.message
    if name == "out_of_bounds":
        assert "argument x: index 319 of axis 0, which has 257 elements, in program 4" in verdict.message
