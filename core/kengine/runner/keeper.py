"""The first process of a runner's family: starts the candidate's process, reaps what it leaves, passes its status on.

In a process namespace it is number 1, and its death kills all the others. Elsewhere it is the one to whom orphans
fall, and kills them one by one. The candidate's process is a child of its own so that signals mean the usual thing.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NoReturn

from kengine.runner import sandbox
from kengine.runner.sandbox import identity, memory, syscalls

_WATCH_S = 0.2
"""Seconds between two looks at how much memory the family takes."""

Main = Callable[[int, tuple[str, ...]], Any]
"""What runs in the innermost process: gets the channel's descriptor and the measures in force."""


def keep(
    settings: sandbox.Settings,
    namespaces: tuple[str, ...],
    pids: tuple[int, int],
    fds: tuple[int, int, int],
    main: Main,
) -> NoReturn:
    """Be the keeper until the family has ended; `fds` are the pipe for reports, the channel and the output.

    Reports "status N" with the wait status of the candidate's process, or "error TEXT". `pids` are this process's
    number outside and that of the zygote. Never returns.
    """
    report, channel, output = fds
    pid, zygote = pids
    try:
        close_others(fds)
        os.setsid()
        os.umask(0o022)
        whole = "pid_namespace" in namespaces
        syscalls.prctl(syscalls.SET_PDEATHSIG, signal.SIGKILL if whole else signal.SIGTERM)
        if not whole:
            syscalls.prctl(syscalls.SET_CHILD_SUBREAPER, 1)
        elif _unread(report):
            os._exit(70)  # the zygote died before its death could be announced
        redirect(output)
        measures = namespaces + sandbox.surround(settings, namespaces)
        child = os.fork()
        if child == 0:
            _become_candidate(settings, measures, identity.number(pid), report, channel, main)
        os.close(channel)
        # Nobody in the family may look into this process, or write a report in its place.
        syscalls.prctl(syscalls.SET_DUMPABLE, 0)
        for fd in (0, 1, 2):
            os.close(fd)
        _wait(child, report, zygote if not whole else None, settings.limits.get("memory_bytes") or 0)
    except BaseException:
        with suppress(OSError):
            os.write(report, b"error " + traceback.format_exc()[-1500:].replace("\n", "\\n").encode() + b"\n")
    os._exit(70)


def _wait(child: int, report: int, zygote: int | None, memory_bytes: int) -> NoReturn:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    # Where /proc still shows the numbers of an outer namespace, the family cannot be told from others.
    watched = memory_bytes > 0 and os.readlink("/proc/self") == str(os.getpid())
    if zygote is not None:
        # The zygote asks for the end with SIGTERM, and so does the kernel when the zygote is gone.
        def end(*_: object) -> NoReturn:
            status = kill_all(child)
            _report(report, status)
            os._exit(0)

        signal.signal(signal.SIGTERM, end)
        if os.getppid() != zygote:
            end()
    while True:
        signal.sigtimedwait({signal.SIGCHLD}, _WATCH_S)
        for pid, status in _ended():
            if pid == child:
                if zygote is not None:
                    signal.signal(signal.SIGTERM, signal.SIG_IGN)
                    kill_all(0)
                _report(report, status)
                os._exit(0)
        # One process is bounded by a limit of its own; many of them only together.
        family = descendants(os.getpid()) if watched else []
        if watched and len(family) > 1 and memory.private_bytes(family) > memory_bytes:
            with suppress(OSError):
                os.write(report, b"reason limit of memory for all its processes together\n")
            for pid in family:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def _ended() -> Iterator[tuple[int, int]]:
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0]:
            yield ended


def _unread(pipe: int) -> bool:
    poll = select.poll()
    poll.register(pipe, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _report(report: int, status: int | None) -> None:
    with suppress(OSError):
        os.write(report, f"status {status if status is not None else int(signal.SIGKILL)}\n".encode())


def kill_all(child: int, within_s: float = 5.0) -> int | None:
    """Kill and reap every descendant of this process; returns the status of `child` if it was among them."""
    status = None
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        for pid in descendants(os.getpid()):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            pid, state = os.waitpid(-1, os.WNOHANG)
            while pid:
                status = state if pid == child else status
                pid, state = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        time.sleep(0.001)
    return status


def descendants(root: int) -> list[int]:
    """List the processes below `root`, deepest last."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    parent = int(file.read().rpartition(b")")[2].split()[1])
            except (OSError, IndexError, ValueError):
                continue
            children.setdefault(parent, []).append(int(name))
    found: list[int] = []
    stack = [root]
    while stack:
        below = children.get(stack.pop(), [])
        found += below
        stack += below
    return found


def close_others(keep_open: tuple[int, ...]) -> None:
    """Close every descriptor above 2 but these."""
    start = 3
    for fd in sorted(f for f in keep_open if f > 2):
        _close_range(start, fd - 1)
        start = fd + 1
    _close_range(start, 0xFFFFFFFF)


def _close_range(first: int, last: int) -> None:
    if first > last:
        return
    try:
        syscalls.call("close_range", first, last, 0)
    except OSError:
        for name in os.listdir("/proc/self/fd"):
            if first <= int(name) <= last:
                with suppress(OSError):
                    os.close(int(name))


def redirect(output: int) -> None:
    """Read from nothing, and write standard output and errors to `output`, which is closed under its own number."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    for fd in {nothing, output} - {0, 1, 2}:
        os.close(fd)


def _become_candidate(
    settings: sandbox.Settings, measures: tuple[str, ...], uid: int, report: int, channel: int, main: Main
) -> NoReturn:
    code = 70
    try:
        os.close(report)
        os.setsid()
        in_force = sandbox.enter(settings, measures, uid)
        syscalls.prctl(syscalls.SET_PDEATHSIG, signal.SIGKILL)
        main(channel, in_force)
        code = 0
    except BaseException:
        with suppress(BaseException):
            traceback.print_exc()
            sys.stderr.flush()
    os._exit(code)
