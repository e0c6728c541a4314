"""A user of a runner's own, where the engine is root: its processes can be counted and limited, root's cannot."""

from __future__ import annotations

import os

FIRST = 0x6B30_0000
"""User numbers from here on are taken; far above what accounts and containers use."""


def number(pid: int) -> int:
    """User number for the runner whose keeper has this process number outside: unique among the living."""
    return FIRST + pid


def reachable(path: str) -> bool:
    """Whether somebody without rights could get to a path and read it."""
    place = os.path.realpath(path)
    needed = 0o5 if os.path.isdir(place) else 0o4
    try:
        if os.stat(place).st_mode & needed != needed:
            return False
        while place != "/":
            place = os.path.dirname(place)
            if os.stat(place).st_mode & 0o1 == 0:
                return False
    except OSError:
        return False
    return True


def take(uid: int, groups: list[int]) -> bool:
    """Become the user `uid` with these groups beside its own, for good. Returns whether that was allowed."""
    try:
        os.setgroups(groups)
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:
        return False
    return True
