"""Triton's C modules are built by our flags, and work."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

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
