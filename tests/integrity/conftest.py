"""The command as a process of its own, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def kengine(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `kengine ARGS`; the result has `code`, `out` and `err`."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("KENGINE_", "COLUMNS", "NO_COLOR", "FORCE_COLOR"))}
    path = [str(ROOT / "core"), *(str(p) for p in sorted((ROOT / "plugins").iterdir()) if p.is_dir())]
    env = {**kept, "COLUMNS": "200", "PYTHONPATH": os.pathsep.join(path)}

    class Result:
        def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
            self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def run(*args: object) -> Result:
        command = [sys.executable, "-m", "kengine.cli", *map(str, args)]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300)
        return Result(done)

    return run
