"""Files and texts to items: the forms, their near misses, and everything that is no source."""

from __future__ import annotations

from pathlib import Path

import pytest
from kengine.errors import TaskError, UsageError
from kengine.tasks import Item, examine, load, load_task, pair, parse, parse_task

TASK = """
def reference(x, w):
    return x * w
def make_inputs(seed, device, n=4):
    return x, w
"""
SINGLE = TASK + "def candidate(x, w):\n    return x\n"
BENCH = """
import torch.nn as nn
class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
    def forward(self, x):
        return x
def get_inputs():
    return [1]
def get_init_inputs():
    return [N]
N = 3
"""
NKI = "import numpy as np\ndef forward(a, b):\n    return a @ b\ndef get_inputs():\n    return [1, 2]\n"


def fault(item: Item) -> tuple[str, str, int] | None:
    found = examine(item.candidate, item.task)
    return (found.status, found.message, found.line) if found else None


def test_single_file(tmp_path: Path) -> None:
    path = tmp_path / "rms.py"
    path.write_text("# /// kengine\n# draws = 2\n# license = 'MIT'\n# num_warps = 4\n# ///\n" + SINGLE)
    item = load([path])
    assert (item.task.name, item.task.form, item.task.self_referenced) == ("rms", "function", True)
    assert (item.candidate.entry, item.candidate.language) == ("candidate", "python")
    assert item.candidate.options == {"num_warps": 4}
    assert item.task.spec.license == "MIT"
    assert [c.name for c in item.task.spec.cases] == ["default", "default #1", "default large", "default tiny"]
    assert "reference" not in item.candidate.main.text and "candidate" not in item.task.source
    assert item.key == str(path) and fault(item) is None


def test_task_and_candidate_files(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text("# /// kengine\n# name = 'mul'\n# ///\n" + TASK)
    (tmp_path / "k.py").write_text(
        "# /// kengine\n# entry = 'mine'\n# tolerance = 0.4\n# ///\ndef mine(x, w): return x\n"
    )
    for item in (load([tmp_path / "k.py"], tmp_path / "task.py"), load([tmp_path / "task.py", tmp_path / "k.py"])):
        assert (item.task.name, item.task.self_referenced, item.candidate.entry) == ("mul", False, "mine")
        assert item.task.spec.tolerance.rtol is None, "a candidate may not set its own tolerance"
        assert item.candidate.options == {"entry": "mine"}
        assert fault(item) is None


def test_paths_are_text_or_objects_and_a_task_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK)
    (tmp_path / "k.py").write_text("def candidate(x, w): return x * w\n")
    task, path = load_task(str(tmp_path / "task.py")), tmp_path / "k.py"
    assert task == load_task(tmp_path / "task.py") and task.name == "task"
    items = [
        load(files, judge)
        for files in (path, str(path), [path], [str(path)], (path,))
        for judge in (tmp_path / "task.py", str(tmp_path / "task.py"), task)
    ]
    assert all(item == items[0] for item in items) and items[0].key == str(path)
    with pytest.raises(TaskError, match=r"nowhere\.py: no such file"):
        load_task(str(tmp_path / "nowhere.py"))
    with pytest.raises(UsageError, match="no file given"):
        load([])


def test_kernelbench_and_numpy_forms() -> None:
    item = parse("class ModelNew:\n    def forward(self, x): return x\n", "k.py", BENCH)
    assert (item.task.form, item.candidate.entry, fault(item)) == ("module", "ModelNew", None)
    item = parse(BENCH + "class ModelNew(nn.Module):\n    def forward(self, x): return x\n")
    assert (item.task.form, item.task.self_referenced, item.candidate.entry) == ("module", True, "ModelNew")
    item = parse("@nki.jit\ndef kernel(a, b): return a\n", "k.py", NKI)
    assert (item.task.form, item.candidate.entry, fault(item)) == ("numpy", "kernel", None)


def test_native_candidates(tmp_path: Path) -> None:
    (tmp_path / "task.py").write_text(TASK)
    text = '// __global__ void no() {}\nextern "C" __global__ void __launch_bounds__(256) mul(const float* x) {}\n'
    for suffix, language in ((".cu", "cuda"), (".hip", "hip")):
        path = tmp_path / f"k{suffix}"
        path.write_text(text)
        header = tmp_path / "h.cuh"
        header.write_text("#pragma once\n")
        item = load([header, path], tmp_path / "task.py")
        assert (item.candidate.language, item.candidate.entry, item.candidate.main.text) == (language, "mul", text)
        assert [f.path for f in item.candidate.files] == [f"k{suffix}", "h.cuh"] and fault(item) is None
    with pytest.raises(UsageError, match="holds no task; give one with --task"):
        load([path])
    status, message, _ = fault(parse('// /// kengine\n// entry = "mull"\n// ///\n' + text, "k.cu", TASK)) or ("", "", 0)
    assert status == "compile_failed" and "did you mean 'mul'?; kernels in the file: mul" in message


@pytest.mark.parametrize(
    ("block", "entry"),
    [
        ('// kernel = "second<{x}>"\n// block = 32\n', "second"),
        ('// kernel = "second<{x}>"\n// entry = "first"\n', "first"),
        ('// [[launch]]\n// kernel = "first"\n// [[launch]]\n// kernel = "second"\n', "first"),
        ('// [[launch]]\n// block = 32\n// [[launch]]\n// kernel = "ns::second<float>"\n', "second"),
        ("// [[launch]]\n// block = 32\n", "candidate"),
        ("// launch = 3\n// kernel = 4\n", "candidate"),
    ],
)
def test_the_kernel_that_a_block_launches_is_the_entry(block: str, entry: str) -> None:
    kernels = "__global__ void first(float* x) {}\ntemplate <class T> __global__ void second(T* x) {}\n"
    item = parse(f"// /// kengine\n{block}// ///\n{kernels}", "k.cu", TASK)
    assert item.candidate.entry == entry
    assert (fault(item) is None) == (entry != "candidate")


def test_entries_that_are_told_by_the_text() -> None:
    kernel = "import triton\n@triton.jit\ndef kern(x): pass\ndef _h(x): pass\n"
    text = kernel + "def mul(x, w):\n    kern[(1,)](x)\n    return x\n"
    assert parse(TASK + text).candidate.entry == "mul"
    assert parse(text + "def test_mul(): mul(1, 2)\n", "k.py", TASK).candidate.entry == "mul"
    with pytest.raises(UsageError, match="which of a, b is the candidate"):
        parse(TASK + "def a(x, w): return x\ndef b(x, w): return x\n")
    with pytest.raises(UsageError, match=r"no candidate found: define `candidate`.*did you mean 'candidat_'"):
        parse(TASK + "candidat_ = 3\n", "k.py")
    with pytest.raises(UsageError, match="the entry 'mull' is not defined in the file; did you mean 'mul'"):
        parse("# /// kengine\n# entry = 'mull'\n# ///\n" + TASK + text)
    with pytest.raises(UsageError, match="the entry 'reference' belongs to the task"):
        parse("# /// kengine\n# entry = 'reference'\n# ///\n" + SINGLE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "def refrence(x): return x\ndef make_inputs(seed, device): return (1,)\n",
            r"task.py: defines make_inputs, but lacks reference \(did you mean 'refrence'\?\)",
        ),
        (
            "def reference(x): return x\ndef generate_inputs(seed, device): return (1,)\n",
            r"defines reference, but lacks make_inputs \(did you mean 'generate_inputs'",
        ),
        ("def reference(x): return x\n", r"lacks make_inputs \(add `def make_inputs\(seed, device\)`"),
        (
            "class Model: pass\ndef get_inputs(): return []\n",
            r"defines Model and get_inputs, but lacks get_init_inputs",
        ),
        ("class Model:\n  def forward(self): pass\ndef get_init_inputs(): return []\n", "lacks get_inputs"),
        ("def forward(x): return x\n", r"defines forward, but lacks get_inputs"),
        ("x = 1\n", "holds no task; expected reference and make_inputs; or Model"),
        ("", "task.py: the source is empty"),
        ("def reference(x:\n", r"task.py:1: syntax error"),
        (
            TASK.replace("reference(x, w)", "reference(x)"),
            r"task.py:2: reference takes 1 argument, make_inputs returns 2",
        ),
        (TASK.replace("reference(x, w)", "reference(x, *, w)"), "reference needs the keyword arguments w"),
        (TASK.replace("seed, device, n=4", "seed"), "make_inputs takes 1 argument; expected make_inputs"),
        (TASK.replace("n=4", "n"), "make_inputs needs n, which no case gives"),
        ("# /// kengine\n# [[cases]]\n# m = 3\n# ///\n" + TASK, "make_inputs has no parameter 'm' of case 'm=3'"),
        ("# /// kengine\n# writes = ['y']\n# ///\n" + TASK, "the reference has no argument 'y'; it has x, w"),
        ("# /// kengine\n# grid = 3\n# ///\n" + TASK, "grid: unknown key"),
        (BENCH.replace("forward(self, x)", "forward(self)"), r"Model.forward takes 0 arguments, get_inputs returns 1"),
        (BENCH.replace("return [N]", "return []"), r"Model.__init__ takes 1 argument, get_init_inputs returns 0"),
        (BENCH.replace("get_inputs()", "get_inputs(n)"), "get_inputs must be callable without arguments"),
        ("# /// kengine\n# [[cases]]\n# n = 3\n# ///\n" + BENCH, "case 'n=3' gives n, but get_inputs takes no"),
        (NKI.replace("(a, b)", "(a)"), "forward takes 1 argument, get_inputs returns 2"),
    ],
)
def test_broken_tasks_say_what_is_missing(text: str, message: str) -> None:
    with pytest.raises((TaskError, UsageError), match=message):
        parse_task(text)


@pytest.mark.parametrize(
    ("text", "status", "message", "line"),
    [
        ("", "compile_failed", "k.py: the source is empty", 0),
        ("  \n\n", "compile_failed", "the source is empty", 0),
        ("def candidate(x, w):\n    return (x\n", "compile_failed", "k.py:2: syntax error", 2),
        (
            "def candidate(x, w):\n\tif x:\n        return w\n",
            "compile_failed",
            "syntax error: inconsistent use of tabs",
            3,
        ),
        ("x = 1\n\0", "compile_failed", "k.py:2: the source holds NUL bytes", 2),
        ("x = '\ud800'\n", "compile_failed", "k.py:1: the source is not valid Unicode", 1),
        ("# coding: utf-7\nx = 1\n", "compile_failed", "k.py:1: the source declares the encoding 'utf-7'", 1),
        ("#!/x\n# -*- coding: latin-1 -*-\n", "compile_failed", "declares the encoding 'latin-1'", 2),
        ("x = " + "-" * 100_000 + "1\n", "compile_failed", "nested too deeply", 0),
        ("x = a" + ".a" * 100_000 + "\n", "compile_failed", "nested too deeply", 0),
        ("x = " + "(" * 1000 + ")" * 1000, "compile_failed", "too many nested parentheses", 1),
        ("#" * 2_000_001, "compile_failed", "the source is 2,000,001 characters", 0),
        ("#" + "ü" * 1_000_000, "compile_failed", "the source is 2,000,001 bytes", 0),
        (
            "def candidat(x, w): pass\ndef other(): pass\n",
            "compile_failed",
            "defines no 'candidate'; did you mean 'candidat'?",
            0,
        ),
        ("x = 1\n", "compile_failed", "it defines no function or class", 0),
        (
            "# /// kengine\n# entri = 'f'\n# ///\n",
            "compile_failed",
            "k.py:2: entri: unknown key; did you mean 'entry'",
            0,
        ),
        ("# /// kengine\n# a = \n# ///\n", "compile_failed", "k.py:2: the kengine block is not TOML", 0),
        (
            "\ndef candidate(x): return x\n",
            "launch_failed",
            "k.py:2: candidate takes 1 argument, the task passes 2 (x, w)",
            2,
        ),
        (
            "def candidate(x, w, out, z): return x\n",
            "launch_failed",
            "candidate takes 4 arguments, the task passes 2",
            1,
        ),
        ("def candidate(x, w, *, k): return x\n", "launch_failed", "needs the keywords k", 1),
    ],
)
def test_candidates_that_cannot_run(text: str, status: str, message: str, line: int) -> None:
    found = fault(parse(text, "k.py", TASK))
    assert found is not None
    assert (found[0], found[2]) == (status, line)
    assert message in found[1]


@pytest.mark.parametrize(
    "text",
    [
        "def candidate(*args): return args\n",
        "def candidate(x, w, out): out.copy_(x)\n",
        "def candidate(x, w, eps=1e-6): return x\n",
        "@wrap\ndef candidate(): return 1\n",
        "from lib import candidate\n",
        "from lib import *\n",
        "globals()['candidate'] = len\n",
        "try:\n    from lib import candidate\nexcept ImportError:\n    candidate = None\n",
        "\ufeffdef candidate(x, w):\r\n\treturn x\r\n",
        "# coding: utf-8\ndef candidate(x, w): return 'é'\n",
        "def candidate(x, w): return '\\d'\n",
    ],
)
def test_candidates_that_may_run(text: str) -> None:
    assert fault(parse(text, "k.py", TASK)) is None


def test_a_module_of_the_wrong_arity() -> None:
    found = fault(parse("class ModelNew:\n    def forward(self, x, y): return x\n", "k.py", BENCH))
    assert found == ("launch_failed", "k.py:2: ModelNew.forward takes 2 arguments, the task passes 1 (x)", 2)
    found = fault(
        parse("class ModelNew:\n    def __init__(self): pass\n    def forward(self, x): return x\n", "k.py", BENCH)
    )
    assert found == ("launch_failed", "k.py:2: ModelNew.__init__ takes 0 arguments, the task passes 1", 2)


def test_a_single_file_that_does_not_parse_is_a_candidate_that_does_not_compile() -> None:
    item = parse(SINGLE + "x = (\n", "k.py")
    assert item.task.self_referenced
    assert fault(item) == ("compile_failed", "k.py:8: syntax error: '(' was never closed", 8)
    with pytest.raises(UsageError, match=r"k.py:1: syntax error"):
        parse("not python at all\n", "k.py")


def test_a_file_without_a_task() -> None:
    with pytest.raises(UsageError, match=r"k.py: holds no task; expected one file with reference.*--task FILE"):
        parse("def candidate(x): return x\n", "k.py")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x7fELF\x00\x00", "holds NUL bytes at byte 4: a binary file"),
        (b"x = 1\ny = '\xff'\n", r"k.py:2: is not UTF-8 text \(byte 0xff at offset 11\)"),
        (b"#" * 50_000_000, "is 50,000,000 bytes, a source file has at most 2,000,000"),
    ],
)
def test_files_that_are_no_source(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "k.py"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=message):
        load([path])
    (tmp_path / "good.py").write_text("def candidate(x, w): return x")
    with pytest.raises(TaskError, match=message):
        load([tmp_path / "good.py"], path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such file"):
        load([tmp_path / "none.py"])
    with pytest.raises(UsageError, match="is a folder"):
        load([tmp_path])
    with pytest.raises(UsageError, match="no file given"):
        load([])
    (tmp_path / "task.py").write_text(TASK)
    with pytest.raises(UsageError, match="no candidate found"):
        load([tmp_path / "task.py"])


def test_many_candidates_for_one_task() -> None:
    task = parse_task(TASK, "mul.py")
    items = [pair(f"def candidate(x, w): return {i}\n", task) for i in range(3)]
    assert len({item.candidate.digest for item in items}) == 3
    assert {item.task.digest for item in items} == {task.digest}


def test_importing_tasks_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.path[:] = %r; import kengine.tasks, kengine.lint; "
        "print([m for m in ('torch','numpy','triton') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code % (sys.path,)], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


KERNELS = """
import neuronxcc.nki as nki
import neuronxcc.nki.language as nl

def rows(n):
    return (n + 127) // 128

def columns(n):
    return (n + 511) // 512

@nki.jit(platform_target="trn2")
def multiply(a, b):
    return a
"""


def test_the_only_kernel_that_is_called_like_a_function_is_the_entry() -> None:
    assert parse(KERNELS, "k.py", NKI).candidate.entry == "multiply"
    assert parse(KERNELS + NKI, "k.py").candidate.entry == "multiply"
    for head, mark in (("from nki import jit as compiled", "@compiled"), ("import nki", "@nki.jit()")):
        text = KERNELS.replace("import neuronxcc.nki as nki\n", head + "\n").replace("@nki.jit", "@x.y")
        text = text.replace('@x.y(platform_target="trn2")', mark)
        assert parse(text, "k.py", NKI).candidate.entry == "multiply"


def test_two_such_kernels_or_one_of_another_language_decide_nothing() -> None:
    two = KERNELS + "\n@nki.jit\ndef add(a, b):\n    return a\n"
    with pytest.raises(UsageError, match="which of rows, columns, multiply, add is the candidate"):
        parse(two + NKI, "k.py")
    with pytest.raises(UsageError, match="which of rows, columns is the candidate"):
        parse(KERNELS.replace("neuronxcc.nki", "triton") + NKI, "k.py")


def test_a_wrapper_around_the_kernel_is_the_entry() -> None:
    text = KERNELS + "\ndef host(a, b):\n    return multiply(a, b)[: rows(columns(3))]\n"
    assert parse(text, "k.py", NKI).candidate.entry == "host"


KERNEL_ALONE = """
import torch
from triton import jit as compiled

def make_inputs(seed, device):
    return (torch.ones(4),)

def reference(x):
    return x

@compiled
def copy(x, y):
    pass
"""


def test_a_kernel_that_needs_a_launch_is_no_entry() -> None:
    with pytest.raises(UsageError, match="no candidate found: define `candidate`"):
        parse(KERNEL_ALONE, "kernel.py")
    item = parse(KERNEL_ALONE.replace("from triton import jit", "from nki import jit"), "kernel.py")
    assert item.candidate.entry == "copy", "one that is called like a function may be"
    item = parse(KERNEL_ALONE + "\ndef run(x):\n    return x\n", "kernel.py")
    assert item.candidate.entry == "run"
