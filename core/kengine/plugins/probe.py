"""Look for a device in a child process, because touching a driver would poison the process that forks runners.

A probe is a few lines of Python that print one JSON value. A driver that crashes, hangs or talks to stdout is an
answer like any other.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What a probe printed, or in `problem` why it printed nothing that can be used ("" when it did)."""

    value: Any = None
    problem: str = ""


_LOCK = threading.Lock()
_ANSWERS: dict[str, Answer] = {}


def probe(code: str, timeout_s: float = 10.0) -> Answer:
    """Run `code` in a child (`python -I -c`, no stdin, no PYTHON variables) and parse the last line that it printed.

    Never raises; the same code is run once in a process. The child has `timeout_s` seconds, then its group is killed.
    """
    with _LOCK:
        if code not in _ANSWERS:
            _ANSWERS[code] = _run(code, timeout_s)
        return _ANSWERS[code]


def forget() -> None:
    """Forget every answer, so that the next probe looks again."""
    with _LOCK:
        _ANSWERS.clear()


def _run(code: str, timeout_s: float) -> Answer:
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return Answer(problem=f"cannot start {sys.executable}: {error.strerror}")
    with child:
        try:
            out, err = child.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return Answer(problem=f"no answer within {timeout_s:g} s")
        finally:
            _kill(child.pid)  # also what the probe left behind
    if child.returncode < 0:
        return Answer(problem=f"the probe died of {_name(-child.returncode)}")
    if child.returncode:
        lines = err.decode(errors="replace").strip().splitlines()
        return Answer(problem=lines[-1][:500] if lines else f"the probe ended with exit code {child.returncode}")
    lines = out.decode(errors="replace").strip().splitlines()
    try:
        return Answer(json.loads(lines[-1]))
    except (IndexError, ValueError, RecursionError):
        return Answer(problem=f"the probe printed no JSON but {(lines[-1][:200] if lines else 'nothing')!r}")


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
