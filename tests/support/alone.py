"""Tests in a process of their own: an extension's emulator knows the memory of one candidate, as in a runner."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_MARK = "KENGINE_TEST_ALONE"


def run_alone(item: pytest.Item) -> bool | None:
    """Run one test in a fresh interpreter; None where this is that interpreter. Fails with what it printed."""
    if os.environ.get(_MARK):
        return None
    # Without hypothesis: its report at the end of a session imports much, and Python's parser to 3.11.7 ends in
    # SystemError where the collector of garbage meets a compiled kernel that imports a driver to free itself.
    options = ["-q", "-rs", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest"]
    command = [sys.executable, "-m", "pytest", *options, item.nodeid]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, _MARK: "1"}, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        pytest.fail(done.stdout[-6000:] + done.stderr[-2000:], pytrace=False)
    if "passed" not in done.stdout:
        pytest.skip(f"in a process of its own: {done.stdout.strip().splitlines()[-1]}")
    return True
