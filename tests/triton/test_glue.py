"""Triton's C modules are built by our flags, and work."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("triton")

from kengine_triton import glue

SOURCE = """
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include "answer.h"
static PyObject* answer(PyObject* self, PyObject* args) { return PyLong_FromLong(ANSWER); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "small", NULL, -1, methods};
PyMODINIT_FUNC PyInit_small(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def compiler() -> None:
    if not (shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")):
        pytest.skip("needs a C compiler")


def test_a_module_is_built_and_works(compiler: None, tmp_path: Path) -> None:
    (tmp_path / "small.c").write_text(SOURCE)
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "answer.h").write_text("#define ANSWER 42\n")
    path = glue.build("small", str(tmp_path / "small.c"), str(tmp_path), [], [str(tmp_path / "headers")], ["m"])
    spec = importlib.util.spec_from_file_location("small", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.answer() == 42


def test_what_the_compiler_says_is_told(compiler: None, tmp_path: Path) -> None:
    (tmp_path / "small.c").write_text("int f(void) { return nothing; }\n")
    with pytest.raises(subprocess.CalledProcessError) as raised:
        glue.build("small", str(tmp_path / "small.c"), str(tmp_path), [], [], [])
    assert b"nothing" in raised.value.output


def test_it_is_what_triton_calls(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    knobs = pytest.importorskip("triton.knobs")
    if not hasattr(knobs.build, "impl"):
        pytest.skip("this Triton has no place for it")
    from triton.runtime import build

    monkeypatch.setattr(knobs.build, "impl", None)
    assert glue.install() and knobs.build.impl is glue.build
    (tmp_path / "small.c").write_text(SOURCE)
    (tmp_path / "answer.h").write_text("#define ANSWER 7\n")
    extra = [[]] if "ccflags" in build._build.__code__.co_varnames else []
    path = build._build("small", str(tmp_path / "small.c"), str(tmp_path), [], [], [], *extra)
    assert Path(path).parent == tmp_path and Path(path).exists()


def test_without_a_place_or_a_compiler_triton_builds_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    import triton

    monkeypatch.setattr(triton, "knobs", SimpleNamespace(build=SimpleNamespace()), raising=False)
    assert not glue.install()
    kept = SimpleNamespace(build=SimpleNamespace(impl=None))
    monkeypatch.setattr(triton, "knobs", kept, raising=False)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert not glue.install() and kept.build.impl is None


LAUNCHER = """
#include <stdlib.h>
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define TWICE(x) { \\
  x *= 2; }
static PyObject* twice(PyObject* self, PyObject* args) {
  const char* text; Py_ssize_t size;
  if (!PyArg_ParseTuple(args, "s#", &text, &size)) return NULL;
  TWICE(size)
  void* room = malloc(16);
  free(room);
  return PyLong_FromSsize_t(size);
}
static PyMethodDef methods[] = {{"twice", twice, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "NAME", NULL, -1, methods};
PyMODINIT_FUNC PyInit_NAME(void) { return PyModule_Create(&module); }
"""


@pytest.fixture
def nothing_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glue, "_headers", {})
    monkeypatch.setattr(glue, "_ahead", [])


def load(name: str, folder: Path) -> Any:
    folder.mkdir()
    (folder / f"{name}.c").write_text(LAUNCHER.replace("NAME", name))
    path = glue.build(name, str(folder / f"{name}.c"), str(folder), [], [], [])
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_headers_are_compiled_ahead_once_and_used_by_what_is_built_later(
    compiler: None, nothing_ahead: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if "Free Software Foundation" not in glue._version():
        pytest.skip("needs gcc")
    commands: list[list[str]] = []
    run = glue._run
    monkeypatch.setattr(glue, "_run", lambda command: (commands.append(list(command)), run(command))[1])
    with glue.compiling_ahead(tmp_path / "ahead"):
        assert load("first", tmp_path / "a").twice("abc") == 6
    (header,) = (tmp_path / "ahead").glob("*/head.h")
    assert header.read_text() == "\n#include <stdlib.h>\n#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n"
    assert [c[-3] for c in commands if "c-header" in c] == [str(header)]
    assert load("second", tmp_path / "b").twice("abcd") == 8
    assert str(header) in commands[-1] and not any("c-header" in c for c in commands[2:])
    # One that cannot be used is not needed.
    header.with_suffix(".h.gch").write_bytes(b"not compiled")
    assert load("third", tmp_path / "c").twice("") == 0


def test_what_cannot_be_built_so_is_built_plainly(
    compiler: None, nothing_ahead: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glue, "_LIBRARIES", ("-lnowhere_to_be_found",))
    assert load("fifth", tmp_path / "a").twice("abc") == 6
    monkeypatch.setattr(glue, "_included", lambda *_: (_ for _ in ()).throw(OSError("a full disk")))
    assert load("sixth", tmp_path / "b").twice("abc") == 6


def test_without_headers_ahead_a_module_is_built_all_the_same(
    compiler: None, nothing_ahead: None, tmp_path: Path
) -> None:
    assert load("fourth", tmp_path / "a").twice("ab") == 4
    assert not glue._headers


@pytest.mark.parametrize(
    "source, lines",
    [
        ("", []),
        ("int f(void);\n#include <math.h>\n", []),
        ("\n#include <a.h>\n\n#define B 1\n#include <c.h>\n#define D 2\nint e;\n#include <f.h>\n",
         ["#include <a.h>", "#define B 1", "#include <c.h>"]),
        ("#include <a.h>\n#define B \\\n1\n#include <c.h>\n", ["#include <a.h>"]),
        ("#include <a.h>\n#ifdef X\n#include <b.h>\n#endif\n", ["#include <a.h>"]),
        ("#define A 1\nint x;\n", []),
    ],
)  # fmt: skip
def test_the_lines_that_can_be_compiled_ahead(source: str, lines: list[str]) -> None:
    assert [line for line in glue.prelude(source).splitlines() if line] == lines
