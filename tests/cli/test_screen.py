"""`kengine screen`: which files it takes, what it prints, and its exit codes."""

from __future__ import annotations

import json

import pytest

HEAD = (
    "import numpy\ndef make_inputs(seed, device):\n"
    "    return [numpy.random.default_rng(seed).standard_normal((8, 90))]\n"
)
GOOD = HEAD + "def reference(x):\n    return numpy.cumsum(x, 1)\n"
ZEROS = HEAD + "def reference(x):\n    return x * 0\n"
UNUSED = GOOD.replace("(8, 90))]", "(8, 90)), numpy.ones(3)]").replace("reference(x)", "reference(x, w)")
NUMPY = (
    "import numpy\ndef forward(x):\n    return numpy.cumsum(x, 1)\n"
    "def get_inputs():\n    return [numpy.random.standard_normal((6, 50))]\n"
)
KERNEL = """// /// kengine
// name = "twice"
// grid = 1
// block = 64
// inputs = ["x"]
// outputs = ["y"]
// [arrays.x]
// dtype = "float32"
// shape = [64]
// [arrays.y]
// dtype = "float32"
// shape = [64]
// [[cases]]
// ///
extern "C" __global__ void twice(const float* x, float* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
"""


def lines(result):
    return [json.loads(line) for line in result.out.splitlines()]


def test_good_task(kengine, tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    result = kengine("screen", "good.py", "--json")
    assert result.code == 0, result
    (line,) = lines(result)
    assert line["schema"] == "kengine.screen/1" and line["task"] == "good" and line["path"] == "good.py"
    assert line["ok"] and not line["refused"] and line["device"] == "cpu"
    assert {f["check"] for f in line["findings"]} == {"untraced", "small"}
    assert line["cases"][0] == "draw0" and line["elapsed_ns"] > 0


def test_broken_and_warned_tasks_in_a_folder(kengine, tmp_path):
    folder = tmp_path / "tasks" / "deep"
    folder.mkdir(parents=True)
    texts = {"good": GOOD, "zeros": ZEROS, "unused": UNUSED, "old": NUMPY, "helper": "x = 1\n", "torn": "def f(:\n"}
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    (folder / "_hidden.py").write_text(ZEROS)
    (folder / "kernel.cu").write_text("__global__ void f() {}")
    result = kengine("screen", "tasks", "--json")
    assert result.code == 1, result
    found = {line["task"]: line for line in lines(result)}
    assert set(found) == {"good", "zeros", "unused", "old"}
    assert found["zeros"]["refused"] and {f["check"] for f in found["zeros"]["findings"]} >= {"zeros", "constant"}
    assert not found["unused"]["ok"] and not found["unused"]["refused"]
    (hit,) = [f for f in found["unused"]["findings"] if f["severity"] == "warning"]
    assert hit["check"] == "unbound" and "input w" in hit["message"] and hit["fix"]
    assert found["good"]["ok"] and found["old"]["ok"]


def test_table(kengine, tmp_path):
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "zeros.py").write_text(ZEROS)
    result = kengine("screen", "good.py", "zeros.py")
    assert result.code == 1
    assert "zeros would pass as an answer in every case" in result.out and "tighten rtol" in result.out
    assert result.out.rstrip().endswith("2 tasks: 1 refused, 0 with warnings")
    quiet = kengine("screen", "-q", "good.py")
    assert quiet.code == 0 and quiet.out == "1 task: 0 refused, 0 with warnings\n"


def test_kernel_file_and_single_file(kengine, tmp_path):
    pytest.importorskip("kengine_cuda")
    (tmp_path / "twice.cu").write_text(KERNEL)
    single = GOOD + "def candidate(x):\n    raise SystemExit('never run')\n"
    (tmp_path / "single.py").write_text(single)
    result = kengine("screen", "twice.cu", "single.py", "--json")
    assert [line["task"] for line in lines(result)] == ["twice", "single"], result
    assert all(line["ok"] for line in lines(result)), result


def test_a_reference_that_ends_its_process_or_is_no_task(kengine, tmp_path):
    (tmp_path / "crash.py").write_text(GOOD.replace("return numpy.cumsum(x, 1)", "import os; os._exit(3)"))
    (tmp_path / "none.py").write_text("x = 1\n")
    (tmp_path / "binary.py").write_bytes(b"\0\1\2")
    (tmp_path / "good.py").write_text(GOOD)
    result = kengine("screen", "crash.py", "none.py", "binary.py", "good.py", "--json")
    assert result.code == 1, result
    found = {line["path"]: line for line in lines(result)}
    assert found["crash.py"]["findings"][0]["check"] == "crash"
    assert "holds no task" in found["none.py"]["findings"][0]["message"]
    assert "NUL" in found["binary.py"]["findings"][0]["message"]
    assert found["good.py"]["ok"]


def test_usage(kengine, tmp_path):
    (tmp_path / "empty").mkdir()
    assert kengine("screen").code == 2
    missing = kengine("screen", "nothing.py")
    assert missing.code == 2 and "no such file" in missing.err
    empty = kengine("screen", "empty")
    assert empty.code == 2 and "no task in this folder" in empty.err
