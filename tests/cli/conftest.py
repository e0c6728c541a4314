"""Running the command as a person does: a process of its own, exit code, stdout and stderr apart."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Texts:
    """Parts of toy sources, to be put together in other ways."""

    head: str
    task: str
    kernel: str


@dataclass(frozen=True)
class Result:
    """How a command ended."""

    code: int
    out: str
    err: str


def environment(**more: str) -> dict[str, str]:
    """This environment without what would steer kengine, at a width that folds nothing."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KENGINE_", "COLUMNS", "NO_COLOR", "FORCE_COLOR"))}
    path = [str(ROOT / "core"), *(str(p) for p in sorted((ROOT / "plugins").iterdir()) if p.is_dir())]
    return {**kept, "COLUMNS": "200", "PYTHONPATH": os.pathsep.join(path), **more}


@pytest.fixture
def kengine(tmp_path: Path) -> Callable[..., Result]:
    """Run `kengine ARGS` in an empty folder; `env` adds variables, `stdin` feeds it."""

    def run(*args: object, env: dict[str, str] | None = None, stdin: str = "") -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "kengine.cli", *map(str, args)],
            cwd=tmp_path, env=environment(**(env or {})), input=stdin, capture_output=True, text=True, timeout=300,
        )  # fmt: skip
        return Result(done.returncode, done.stdout, done.stderr)

    return run


TASK = """
def make_inputs(seed, device, n=64):
    draw = numpy.random.default_rng(seed)
    return draw.standard_normal(n), draw.standard_normal(n)


def reference(x, y):
    return x + y
"""
KERNEL = """
@toy.kernel
def add(program, x, y, out):
    part = slice(program * 16, min(program * 16 + 16, len(out)))
    out[part] = x[part] + y[part]


def candidate(x, y):
    out = numpy.empty_like(x)
    add[-(-len(out) // 16)](x, y, out)
    return out
"""
HEAD = "import numpy\nfrom kengine.testing import toy\n"


@pytest.fixture
def add(tmp_path: Path) -> Path:
    """A toy kernel that passes, with its task in the same file."""
    path = tmp_path / "add.py"
    path.write_text(HEAD + TASK + KERNEL)
    return path


@pytest.fixture
def subtract(tmp_path: Path) -> Path:
    """The same, wrong."""
    path = tmp_path / "subtract.py"
    path.write_text(HEAD + TASK + KERNEL.replace("x[part] + y[part]", "x[part] - y[part]"))
    return path


@pytest.fixture
def task(tmp_path: Path) -> Path:
    """The task alone."""
    path = tmp_path / "task.py"
    path.write_text("import numpy\n" + TASK)
    return path


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """The kernel alone."""
    path = tmp_path / "kernel.py"
    path.write_text(HEAD + KERNEL)
    return path


@pytest.fixture
def texts() -> Texts:
    """Import lines, task and kernel of `add.py`."""
    return Texts(HEAD, TASK, KERNEL)


@pytest.fixture
def clean_environment() -> Callable[..., dict[str, str]]:
    """The environment that `kengine` runs with, plus what is given."""
    return environment
