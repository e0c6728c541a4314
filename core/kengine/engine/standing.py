"""Where a judge stands while it does not answer, and what a task has started in it.

It writes its stack to its output when it gets `SIGNAL` (`kengine.engine.zygote` sees to that), in whatever code it is,
and ends with that: what goes on printing would cover it up.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Collection
from contextlib import suppress

SIGNAL = signal.SIGUSR1
_WAIT_S = 0.5
_END_S = 3.0
_DUMP = re.compile(r"^.*\(most recent call first\):$", re.MULTILINE)
_FRAME = re.compile(r'^  File "(.*)", line (\d{1,9}) in (.*)$', re.MULTILINE)


def ask(pid: int, printed: Callable[[], str], filename: str) -> str:
    """End a process, and tell where it stood in the source `filename`, as "task.py:12 in reference".

    "" when it was not in there, or does not say so within half a second. printed: what it has written so far. The
    innermost frame of that source counts. Code that prints a stack itself is believed: nothing but a message depends
    on it.
    """
    with suppress(OSError):
        os.kill(pid, SIGNAL)
    deadline = time.monotonic() + _WAIT_S
    while time.monotonic() < deadline:
        if told := _read(printed(), filename):
            return told
        time.sleep(0.005)
    return ""


def _read(text: str, filename: str) -> str:
    """What the last stack in a text says of a source; "" when it says nothing of it, or not yet."""
    dumps = list(_DUMP.finditer(text))
    frames = _FRAME.findall(text, dumps[-1].end()) if dumps and text.endswith("\n") else []
    return next((f"{path}:{line} in {name}" for path, line, name in frames if path == filename), "")


def children(pid: int) -> list[int]:
    """The processes that a process has started and that have not ended, oldest first."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(number) for number in file.read().split()]
    return []


def end_family(leader: int, ancestor: int, others: Collection[int]) -> None:
    """Kill a process without a sandbox and whatever it has started, also what has left its session.

    `ancestor` is its parent, to whom its orphans fall; `others` are the children of that one that go on.
    """
    with suppress(OSError):
        if leader in children(ancestor) and os.getpgid(leader) == leader:
            os.killpg(leader, signal.SIGKILL)  # all at once: what forks on and on has no time for one more
    deadline = time.monotonic() + _END_S
    while time.monotonic() < deadline:
        left = [pid for pid in children(ancestor) if pid not in others]
        if not left:
            return
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
