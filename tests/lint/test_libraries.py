"""What rules know of a backend's library: what its plugin declares, and nothing without it."""

from __future__ import annotations

import ast

import pytest
from kengine.lint.rule import Context
from kengine.lint.rules import RULES
from kengine.lint.source import SourceTree
from kengine.model import Case, Target, Task, TaskSpec
from kengine.plugins import Dialect, dialect
from kengine.plugins.dialect import Dialects

ACME = Dialect(
    "ACME",
    libraries=frozenset({"acme"}),
    settings=frozenset({"acme.knobs"}),
    helpers=frozenset({"acme.ceil_div", "acme.testing"}),
    shims=frozenset({"acme.language"}),
    hooks=frozenset({"acme.knobs.before_launch"}),
    clocks=frozenset({"acme.testing"}),
    timers=frozenset({"acme.testing.bench"}),
)
FLOAT32 = Context(
    Task("t", "function", "def reference(x):\n    return x\n", spec=TaskSpec((Case("a", {}, "float32"),))),
    Target("acme", "a1"),
)


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(dialect, "declared", lambda: made)
    made = Dialects(acme=ACME)


@pytest.fixture
def missing(monkeypatch):
    monkeypatch.setattr(dialect, "declared", Dialects)


def hits(body: str) -> dict[str, str]:
    text = f"import acme\nimport acme.language as al\nimport torch\n{body}"
    source = SourceTree(text, ast.parse(text), entry="candidate")
    return {
        rule.code: found.severity or rule.severity
        for rule in RULES
        if "python" in rule.languages
        for found in rule.check(source, FLOAT32)
    }


CASES = {
    "KE102": ("def candidate(x):\n    acme.ceil_div(4, 2)\n    return torch.relu(x)\n", "reject"),
    "KE105": ("acme.language.add = print\ndef candidate(x):\n    return acme.run(x)\n", "warn"),
    "KE114": ("def candidate(x):\n    acme.knobs.before_launch.add(print)\n    return acme.run(x)\n", "reject"),
    "KE201": ("def candidate(x):\n    return acme.run(x.to(al.bfloat16))\n", "warn"),
    "KE202": ("def candidate(x):\n    acme.knobs.fast = True\n    return acme.run(x)\n", "warn"),
    "KE301": ("acme.testing.bench = print\ndef candidate(x):\n    return acme.run(x)\n", "reject"),
    "KE303": ("def candidate(x):\n    acme.testing.bench(x)\n    return acme.run(x)\n", "warn"),
}


@pytest.mark.parametrize("code", CASES)
def test_what_a_plugin_declares_is_known(installed, code: str) -> None:
    text, severity = CASES[code]
    assert hits(text)[code] == severity


@pytest.mark.parametrize("code", CASES)
def test_without_the_plugin_nothing_is_known_of_its_library(missing, code: str) -> None:
    assert code not in hits(CASES[code][0])


def test_what_is_neither_a_shim_nor_a_helper(installed) -> None:
    assert hits("acme.launch = print\ndef candidate(x):\n    return acme.run(x)\n")["KE105"] == "reject"
    assert "KE102" not in hits("def candidate(x):\n    acme.run(x)\n    return torch.relu(x)\n")
    assert "KE303" not in hits("def candidate(x):\n    acme.testing.compare(x)\n    return acme.run(x)\n")


def test_tritons_names_are_its_plugins() -> None:
    known = dialect.find("triton")
    if known == Dialect():
        pytest.skip("the Triton backend is not installed")
    for field in ("libraries", "settings", "helpers", "shims", "hooks", "clocks", "timers"):
        names = getattr(known, field)
        assert names and all(name.partition(".")[0] == "triton" for name in names), field
