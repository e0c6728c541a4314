"""The rules of the HIP pack: what they find, on which line, and what they leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from kengine.lint import check
from kengine.lint.rule import SECTIONS
from kengine.model import Candidate, SourceFile, Target, Task, TaskSpec
from kengine_hip.lint import RULES, lint

FIXTURES = Path(__file__).with_name("fixtures")
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
    "KH105": ("  float v = x[0];", "  y[threadIdx.x] = x[0];"),
}
TASK = Task("t", "function", "")


def find(text: str, name: str = "k.hip", task: Task = TASK, arch: str = "gfx942") -> list[tuple[str, str, int]]:
    candidate = Candidate((SourceFile(name, text),), "k", "python" if name.endswith(".py") else "hip")
    return [(f.code, f.severity, f.line) for f in lint(candidate, task, Target("hip", arch))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_rule(rule) -> None:
    assert list(rule.sections) == ["", *SECTIONS] and all(text.strip() for text in rule.sections.values())
    bad, ok = (FIXTURES / f"{rule.code}_{kind}.hip" for kind in ("bad", "ok"))
    lines = [n for n, line in enumerate(bad.read_text().split("\n"), 1) if f"// {rule.code}" in line]
    assert lines and find(bad.read_text()) == [(rule.code, rule.severity, line) for line in lines]
    assert find(ok.read_text()) == []


def test_codes_are_in_order() -> None:
    codes = [rule.code for rule in RULES]
    assert codes == sorted(CASES)


def test_strings_of_a_python_file_have_its_lines() -> None:
    text = f"import cupy\n\nSOURCE = r'''\n{HEAD}{CASES['KH101'][0]}\n}}\n'''\n"
    assert find(text, "k.py") == [("KH101", "warn", 5)]


@pytest.mark.parametrize(
    ("line", "allow", "code"),
    [("hipblasSgemm(0);", "hipblas", "KE402"), ("y = torch::matmul(a, b);", "aten::matmul", "KE401")],
)
def test_the_core_finds_libraries_and_operators_unless_the_task_permits_them(line, allow, code) -> None:
    host = "torch::Tensor run(torch::Tensor a, torch::Tensor b) {\n  " + line + "\n  return y;\n}\n"
    text = HEAD + "  y[0] = x[0];\n}\n" + host
    candidate = Candidate((SourceFile("k.hip", text),), "k", "hip")
    for task in (TASK, Task("t", "function", "", spec=TaskSpec(allow=(allow,)))):
        record = check(candidate, task, Target("hip", "gfx942"))
        found = [(f.code, f.line) for f in record.findings if f.severity == "reject"]
        assert found == ([(code, 5)] if task is TASK else [])


def test_chips_with_32_lanes_are_spared() -> None:
    assert find(HEAD + CASES["KH102"][0] + "\n}\n", arch="gfx1100") == []


def test_hostile_texts_find_nothing() -> None:
    for text in ("", "{" * 5000, "__global__", "__global__ void k(", "\0" * 100, "'" * 999):
        assert [code for code, _, _ in find(text) if code.startswith("KE99")] == []
