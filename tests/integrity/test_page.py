"""The published scores: how the script merges them, and that the page has a line for each target without a device."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "integrity.md").read_text()


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("write_scores", ROOT / "scripts" / "write_scores.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entry(kind: str, miss: str, letter: str = "", judged: bool = True) -> dict[str, object]:
    full = {"status": "sham"} if judged else None
    return {"kind": kind, "letter": letter, "miss": miss, "full": full, "not_run": "" if judged else "no device"}


SCORE = {
    "target": "toy:cpu",
    "emulated": True,
    "when": "2031-12-24",
    "full": {
        "false_accepts": {"count": 1, "of": 4},
        "other_status": {"count": 1, "of": 4},
        "false_rejects": {"count": 2, "of": 3},
    },
    "lint_off": {"false_accepts": {"count": 2, "of": 3}},
    "entries": [entry("hack", "false accept", "B2"), entry("hack", "", "B3"), entry("hack", "", "C1", judged=False)],
}


def test_a_score_becomes_a_line_in_each_table(script) -> None:
    assert script.rates(SCORE) == ["`toy:cpu` (emulator)", "4", "2", "2 of 3", "3", "2", "1", "2031-12-24"]
    assert script.letters(SCORE) == ["`toy:cpu`", "-", "1 of 2", "-", "-", "-", "-", "-", "-", "-", "-"]


def test_other_targets_keep_their_lines(script) -> None:
    head, tail = "before\n<!-- rates -->\n| target | n |\n|---|---|\n", "<!-- end -->\nafter\n"
    page = f"{head}| `a:b` | 1 |\n| `c:d` (emulator) | 2 |\n{tail}"
    merged = script.merge(page, "rates", ("target", "n"), [["`c:d`", "3"], ["`e:f`", "4"]])
    assert merged == f"{head}| `a:b` | 1 |\n| `c:d` | 3 |\n| `e:f` | 4 |\n{tail}"
    with pytest.raises(SystemExit, match="has no table"):
        script.merge(page, "letters", ("target",), [])


def test_the_page_has_scores_of_every_emulator(script) -> None:
    for mark in ("rates", "letters"):
        (table,) = re.findall(rf"<!-- {mark} -->\n(.*?)<!-- end -->", PAGE, re.S)
        targets = re.findall(r"^\| `([^`]+)`", table, re.M)
        assert {"triton:interpret", "cuda:cpu", "hip:cpu", "nki:sim"} <= set(targets)
        assert len(targets) == len(set(targets))
