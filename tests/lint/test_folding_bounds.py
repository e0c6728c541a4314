"""Folding a hostile text takes little time and little memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from kengine import lint
from kengine.lint.rules import RULES
from kengine.model import Candidate, SourceFile, Target, Task

TASK = Task("t", "function", "def reference(x): return x\ndef make_inputs(seed, device): return (1,)\n")


def run(text):
    return lint.run(Candidate((SourceFile("c.py", text),), "candidate"), TASK, Target("toy", "cpu"), RULES)


@pytest.mark.parametrize("operator", ["-", "+", "^", "%"])
def test_a_chain_in_which_each_name_stands_twice_takes_linear_time(operator):
    lines = ["v0 = 3"] + [f"v{n + 1} = v{n} {operator} v{n}" for n in range(60)]
    text = "\n".join([*lines, "def candidate(x):", "    return getattr(x, str(v60))", ""])
    begun = time.process_time()
    run(text)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "expression",
    [
        "'%999999999d' % 1",
        "'%*d' % (999999999, 1)",
        "'{:>999999999}'.format('a')",
        "'{:>{}}'.format('a', 999999999)",
        "('a' * 1 + 'aaaaaaaa' * 1).replace('a', 'b')",
        f"{'a' * 60000!r}.replace('a', {'b' * 60000!r})",
    ],
)
def test_no_format_makes_a_large_text(expression):
    text = f"name = {expression}\ndef candidate(x):\n    return getattr(x, name)\n"
    tracemalloc.start()
    try:
        run(text)
        assert tracemalloc.get_traced_memory()[1] < 100 << 20
    finally:
        tracemalloc.stop()


def test_names_that_refer_to_each_other_are_no_constants():
    run("a = b + 'x'\nb = a + 'y'\ndef candidate(x):\n    return getattr(x, a)\n")


def test_what_is_honest_is_still_folded():
    text = "part = 'sys' + 'tem'\nimport os\ndef candidate(x):\n    getattr(os, '%s' % part)('ls')\n    return x\n"
    record = run(text)
    assert any(f.code == "KE108" for f in record.findings), record.findings
