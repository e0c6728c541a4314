"""The folder of a warm-up: gone at its end, and gone with the next engine when the process was killed in it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from kengine.engine import scratch
from kengine.native.warm import temporary_folder

HOLD = """
from kengine.native.warm import temporary_folder
with temporary_folder() as folder:
    (folder / "sub").mkdir()
    print(folder, flush=True)
    input()
"""


def test_it_is_removed_at_the_end_of_the_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with temporary_folder() as folder:
        (folder / "file").write_text("x")
        assert folder.parent == tmp_path and scratch.sweep(tmp_path) is None  # its owner lives
    assert list(tmp_path.iterdir()) == []


def test_one_whose_process_was_killed_is_removed_by_the_next_engine(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD], stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        folder = Path(process.stdout.readline().strip())
        assert folder.parent == tmp_path and (folder / "sub").is_dir()
        assert scratch.sweep(tmp_path) is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    remover = scratch.sweep(tmp_path)
    assert remover is not None
    remover.join(10)
    assert list(tmp_path.iterdir()) == []
