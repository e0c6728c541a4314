"""A user of a runner's own, where the engine is root: its processes can be counted and limited, root's cannot."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence

FIRST = 0x6B30_0000
"""User numbers from here on are taken; far above what accounts and containers use."""
_PER_NAMESPACE_SINCE = (6, 14)


def number(pid: int) -> int:
    """User number for the runner whose keeper has this process number outside: unique among the living."""
    return FIRST + pid


def open_to_all(paths: Iterable[str]) -> bool:
    """Whether somebody without rights may read these files and folders, their parents left aside."""
    for path in paths:
        try:
            needed = 0o5 if os.path.isdir(path) else 0o4
            if os.stat(path).st_mode & needed != needed:
                return False
        except OSError:
            continue
    return True


def parents(paths: Iterable[str]) -> set[str]:
    """List every folder on the way to these paths, links resolved."""
    found = set()
    for path in paths:
        place = os.path.realpath(path)
        while place != "/":
            place = os.path.dirname(place)
            found.add(place)
    return found


def take(uid: int, groups: Sequence[int]) -> bool:
    """Become the user `uid` with these groups beside its own, for good. Returns whether that was allowed."""
    try:
        os.setgroups(groups)
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:
        return False
    return True


def limit_numbers(processes: int) -> bool:
    """Bound the processes of this process's namespace through their numbers, for where root's cannot be counted.

    Before Linux 6.14 that setting belongs to the whole machine, and nothing is done. Returns whether it is in force.
    """
    release = tuple(int(n) for n in platform.release().split("-")[0].split(".")[:2] if n.isdigit())
    reserved = 300
    if release < _PER_NAMESPACE_SINCE or os.getpid() != 1:
        return False
    try:
        with open("/proc/sys/kernel/pid_max", "w") as file:
            file.write(str(reserved + processes + 1))
    except OSError:
        return False
    return True
