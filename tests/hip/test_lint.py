"""The rules of the HIP pack: what they find, on which line, and what they leave alone."""

from __future__ import annotations

import pytest
from kengine.lint.rule import SECTIONS, Rule
from kengine.model import Candidate, SourceFile, Target, Task, TaskSpec
from kengine_hip.lint import RULES, lint

HEAD = "__global__ void k(const float* x, float* y, int n) {\n"
CASES = {
    "KH101": (
        "  y[0] = __shfl_down_sync(0xffffffff, x[0], 1);",
        "  y[0] = __shfl_down_sync(0xffffffffffffffffULL, x[0], 1);",
    ),
    "KH102": (
        "  float v = x[0]; for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d); y[0] = v;",
        "  float v = x[0]; for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d, 32); y[0] = v;",
    ),
    "KH103": (
        "  __half v = x[0]; for (int i = 0; i < n; ++i) v += x[i]; y[0] = v;",
        "  float v = x[0]; for (int i = 0; i < n; ++i) v += x[i]; y[0] = v;",
    ),
    "KH104": ("  hipblasSgemm(0); y[0] = 1;", "  // hipblasSgemm(0)\n  y[0] = 1;"),
    "KH105": ("  float v = x[0];", "  y[threadIdx.x] = x[0];"),
    "KH106": ("  torch::matmul(a, b); y[0] = 1;", "  torch::empty_like(a); y[0] = 1;"),
}
TASK = Task("t", "function", "")


def find(text: str, name: str = "k.hip", task: Task = TASK, arch: str = "gfx942") -> list[tuple[str, str, int]]:
    candidate = Candidate((SourceFile(name, text),), "k", "python" if name.endswith(".py") else "hip")
    return [(f.code, f.severity, f.line) for f in lint(candidate, task, Target("hip", arch))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule(rule) -> None:
    sections = Rule(rule.code, rule.name, rule.severity, lambda source, context: (), rule.doc).sections
    assert list(sections) == ["", *SECTIONS] and all(text.strip() for text in sections.values())
    bad, ok = CASES[rule.code]
    assert find(HEAD + bad + "\n}\n") == [(rule.code, rule.severity, 1 if rule.code == "KH105" else 2)]
    assert find(HEAD + ok + "\n}\n") == []


def test_codes_are_in_order() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(CASES)


def test_strings_of_a_python_file_have_its_lines() -> None:
    text = f"import cupy\n\nSOURCE = r'''\n{HEAD}{CASES['KH101'][0]}\n}}\n'''\n"
    assert find(text, "k.py") == [("KH101", "warn", 5)]


def test_a_task_may_permit_a_library() -> None:
    allowing = Task("t", "function", "", spec=TaskSpec(allow=("hipblas",)))
    assert find(HEAD + CASES["KH104"][0] + "\n}\n", task=allowing) == []


def test_chips_with_32_lanes_are_spared() -> None:
    assert find(HEAD + CASES["KH102"][0] + "\n}\n", arch="gfx1100") == []


def test_hostile_texts_find_nothing() -> None:
    for text in ("", "{" * 5000, "__global__", "__global__ void k(", "\0" * 100, "'" * 999):
        assert [code for code, _, _ in find(text) if code.startswith("KE99")] == []
