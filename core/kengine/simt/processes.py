"""Compiler processes: run to their end, within a limit, and with all that they have started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kengine.errors import InfraError
from kengine.simt.fault import CompileError


def environment() -> dict[str, str]:
    """What a compiler gets: messages in English, and no folders but those that its command names."""
    kept = {k: v for k, v in os.environ.items() if k not in ("CPATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX")}
    return {**kept, "LC_ALL": "C"}


def start(command: Sequence[str], directory: Path, **streams: Any) -> subprocess.Popen[bytes]:
    """Start a compiler in a directory; `streams` are those of Popen."""
    return subprocess.Popen(command, cwd=directory, env=environment(), **streams)


def end(process: subprocess.Popen[bytes], seconds: float, text: bytes | None = None) -> tuple[str, str]:
    """Give a process its input, if it has one, and wait for its end: its output and its messages.

    CompileError when it computes longer than `seconds`, InfraError when it has not finished because the machine gave
    it too little processor time.
    """
    try:
        out, messages = process.communicate(text, timeout=seconds)
    except BaseException as error:
        computed = kill(process)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        if computed < seconds / 2:
            raise InfraError(
                f"the compiler has not finished after {seconds:.0f} s, in which it had {computed:.0f} s of a "
                "processor: the machine is too busy"
            ) from error
        raise CompileError(f"the compiler has not finished after {seconds:.0f} s", None, "") from error
    return (out or b"").decode(errors="replace"), (messages or b"").decode(errors="replace")


def kill(process: subprocess.Popen[bytes]) -> float:
    """End a process and what it has started; the processor seconds that they had. Safe to call again."""
    if process.returncode is not None:
        return 0.0
    family = find_family(process.pid)
    for pid in family:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    return sum(family.values())


def find_family(root: int) -> dict[int, float]:
    """A process and all that descends from it, with the processor seconds of each as far as /proc tells."""
    parents: dict[int, int] = {}
    seconds: dict[int, float] = {root: 0.0}
    for place in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = place.read_text().rpartition(")")[2].split()
            pid = int(place.parent.name)
            parents[pid] = int(fields[1])
            seconds[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    found = {root}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return {pid: seconds[pid] for pid in sorted(found)}
