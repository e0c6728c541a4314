"""The CUDA rules: what each finds, where, and what it leaves alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from kengine.lint.rule import SECTIONS
from kengine.model import Candidate, SourceFile, Target, Task
from kengine_cuda.lint import lint
from kengine_cuda.lint.rules import RULES

FIXTURES = Path(__file__).with_name("fixtures")
TASK = Task("t", "function", "def reference(x):\n    return x\n\ndef make_inputs(seed, device):\n    return ()\n")


def find(path: Path) -> list[tuple[str, str, int]]:
    text = path.read_text()
    language = "cuda" if path.suffix == ".cu" else "python"
    candidate = Candidate((SourceFile(path.name, text),), "candidate", language)  # type: ignore[arg-type]
    return [(f.code, f.severity, f.line) for f in lint(candidate, TASK, Target("cuda", "cpu"))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_page_and_fixtures(rule) -> None:
    assert list(rule.sections) == ["", *SECTIONS] and all(rule.sections.values())
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)
    assert list(FIXTURES.glob(f"{rule.code}_bad.*")) and list(FIXTURES.glob(f"{rule.code}_ok.*"))


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("KC*")), ids=lambda path: path.name)
def test_fixture(path: Path) -> None:
    code = path.name[:5]
    lines = path.read_text().split("\n")
    expected = [n for n, line in enumerate(lines, 1) if re.search(rf"(?:#|//) {code}\b", line)]
    assert bool(expected) is ("_bad" in path.name)
    assert sorted({line for found, _, line in find(path) if found == code}) == expected


def test_the_examples_are_clean() -> None:
    examples = Path(__file__).resolve().parents[2] / "examples" / "cuda"
    for path in sorted(examples.rglob("*.*")):
        if path.suffix in (".cu", ".py") and path.name != "task.py":
            rejects = [found for found in find(path) if found[1] == "reject"]
            assert rejects == [], path
