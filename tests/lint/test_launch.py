"""Code that is made at run time: what is loaded by name is a library, or may be anything."""

from __future__ import annotations

import ast

import pytest
from kengine.lint.launch import builds_code
from kengine.lint.source import SourceTree
from kengine.plugins import Dialect, dialect
from kengine.plugins.dialect import Dialects


def builds(expression: str) -> bool:
    text = f"import importlib\nimport runpy\n\n\ndef candidate(x):\n    {expression}\n    return x\n"
    return builds_code(SourceTree(text, ast.parse(text)))


@pytest.fixture(autouse=True)
def acme(monkeypatch):
    made = Dialects(acme=Dialect("ACME", libraries=frozenset({"acme"})))
    monkeypatch.setattr(dialect, "declared", lambda: made)


@pytest.mark.parametrize("module", ["torch", "numpy.linalg", "os.path", "math", "cupy", "acme", "acme.language"])
def test_libraries_may_be_loaded_by_name(module) -> None:
    assert not builds(f"importlib.import_module({module!r})")


@pytest.mark.parametrize(
    "expression",
    [
        "importlib.import_module('generated')",
        "importlib.import_module('acmelike')",
        "importlib.import_module(x.name)",
        "importlib.import_module()",
        "exec('y = x')",
        "eval('x')",
        "compile('x', 'f', 'eval')",
        "runpy.run_path('f.py')",
    ],
)
def test_what_else_is_loaded_or_executed_may_launch_anything(expression) -> None:
    assert builds(expression)


def test_a_library_counts_by_the_backend_that_names_it(monkeypatch) -> None:
    monkeypatch.setattr(dialect, "declared", Dialects)
    assert builds("importlib.import_module('acme')") and not builds("importlib.import_module('torch')")
