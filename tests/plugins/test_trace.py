from __future__ import annotations

import re

import pytest
from kengine.errors import ContractViolation
from kengine.model import Candidate, SourceFile, Target, Task, TaskView
from kengine.plugins.backend import load

CANDIDATE = Candidate((SourceFile("a.py", ""),), "x")


def test_every_call_is_printed_with_plugin_and_time(install, monkeypatch, capsys, tmp_path):
    install("good", "lint_pack", "raising_hook")
    monkeypatch.setenv("KENGINE_TRACE", "1")
    good = load("good")
    good.targets()
    good.lint(CANDIDATE, Task("t", "function", ""), Target("good", "x1"))
    with pytest.raises(ContractViolation):
        load("raising_hook").compile(CANDIDATE, TaskView("function", "x"), Target("raising_hook", "x1"), [], tmp_path)
    out, err = capsys.readouterr()
    assert out == ""
    lines = [re.sub(r"\d+\.\d{3} ms", "T ms", line) for line in err.splitlines()]
    assert lines == [
        "kengine trace: kengine_targets T ms by good (fake-good 2.5)",
        "kengine trace: kengine_lint T ms by acme_rules (fake-lint-pack 1.0)",
        "kengine trace: kengine_compile T ms by raising_hook (fake-raising-hook 1.0) raised KeyError",
    ]


def test_silent_without_the_variable(install, monkeypatch, capsys):
    install("good")
    for value in ("", "0"):
        monkeypatch.setenv("KENGINE_TRACE", value)
        load("good").targets()
    assert capsys.readouterr() == ("", "")
