"""Hostile sources end with a clear result within seconds."""
# ruff: noqa: E501 - specimens stand on one line each

from __future__ import annotations

import time

import pytest
from kengine import lint
from kengine.lint.cpp.preprocessor import Preprocessor
from kengine.lint.cpp.unit import Unit
from kengine.model import Candidate, SourceFile, Target, Task

TASK = Task("t", "function", "def reference(x): return x\ndef make_inputs(seed, device): return (1,)\n")
SECONDS = 20  # of the processor, on a busy machine; alone most take one or two
CPP = {
    "braces": "{" * 400_000,
    "angles": "a<" * 200_000,
    "launches": "x<<<" * 100_000,
    "conditions": "#if 1\n" * 60_000,
    "functions": "f(){" * 100_000,
    "quotes": '"' * 400_000,
    "raw strings": 'R"(' * 130_000,
    "comments": "/*" * 200_000,
    "calls of an open macro": "#define F(x) x\n" + "F(\n" * 100_000,
    "nested macros": "#define F(x) x x\n" + "F(" * 3_000 + ")" * 3_000,
    "a bomb of macros": "#define A0 x x\n" + "".join(f"#define A{i + 1} A{i} A{i}\n" for i in range(60)) + "A60",
    "macros that call each other": "#define A B A\n#define B A B\n" + "A\n" * 1000,
    "long conditions": "#if " + "(" * 20_000 + "1" + ")" * 20_000 + "\n",
    "catches": "catch(a){" * 40_000,
    "names": "at::" * 100_000,
    "nothing of C++": "\x00\x01\x7f\u2028\ud7ff" * 50_000,
    "statics": "static " * 60_000,
    "kernels": "__global__ void k(int a) { b[a] = 1; }\n" * 8_000,
}
PYTHON = {
    "helpers that fork": "".join(f"def f{i}(x):\n    return f{i + 1}(x) + f{i + 1}(x)\n" for i in range(40))
    + "def f40(x):\n    return x\ndef candidate(x):\n    return f0(x)\n",
    "functions that call each other": "def a(x): return b(x)\ndef b(x): return a(x)\ndef candidate(x): return a(x)\n",
    "a deep expression": "def candidate(x):\n    return " + "-" * 900 + "x\n",
    "nested lambdas": "def candidate(x):\n    return " + "(lambda y: " * 60 + "x" + ")" * 60 + "(x)\n",
    "loops in loops": "def candidate(x):\n" + "".join("    " * i + f"for i{i} in x:\n" for i in range(1, 18)) + "    " * 18 + "x = x @ x\n    return x\n",
    "many C++ texts": "".join(f"A{i} = '__global__ void k{i}(float* x) {{ x[0] = 1; }}'\n" for i in range(2000)) + "def candidate(x): return x\n",
}  # fmt: skip


def check(text: str, path: str) -> list[str]:
    language = "cuda" if path.endswith(".cu") else "python"
    candidate = Candidate((SourceFile(path, text),), "candidate", language)  # type: ignore[arg-type]
    begun = time.process_time()
    record = lint.check(candidate, TASK, Target("cuda", "cpu"))
    assert time.process_time() - begun < SECONDS
    return [f.code for f in record.findings]


@pytest.mark.parametrize("name", CPP)
def test_cpp(name: str) -> None:
    found = check(CPP[name], "k.cu")
    assert "KE991" not in found, "a rule broke"


@pytest.mark.parametrize("name", PYTHON)
def test_python(name: str) -> None:
    assert "KE991" not in check(PYTHON[name], "k.py"), "a rule broke"


@pytest.mark.parametrize("path", ["k.cu", "k.py"])
def test_fifty_megabytes(path: str) -> None:
    assert check("x = 1;\n" * (50_000_000 // 7), path) == ["KE992"]


def test_what_was_not_read_is_said() -> None:
    assert "KE414" in check(CPP["a bomb of macros"], "k.cu")
    assert "KE414" in check("int a;\n" * 60_000, "k.cu")
    assert Unit("int a;\n" * 60_000).incomplete and not Unit("int a;\n").incomplete
    assert Preprocessor().run(CPP["a bomb of macros"]).exhausted


def test_files_of_no_text() -> None:
    for text in ("", "\n", "\x00", "\ufeff", "'", '"', "#", "#define", "#if", "#include", "__global__", "<<<", "R\"x("):
        assert "KE991" not in check(text, "k.cu") and "KE991" not in check(text, "k.py")
