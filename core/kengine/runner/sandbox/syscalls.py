"""System calls that Python does not wrap, by number where the C library has no name for them either."""

from __future__ import annotations

import ctypes
import os
import platform
from typing import Any

MACHINE = platform.machine()
_NUMBERS = {
    "x86_64": {"clone": 56, "pivot_root": 155, "capset": 126, "seccomp": 317},
    "aarch64": {"clone": 220, "pivot_root": 41, "capset": 91, "seccomp": 277},
}
_COMMON = {"close_range": 436, "mount_setattr": 442, "landlock_create_ruleset": 444, "landlock_add_rule": 445,
           "landlock_restrict_self": 446}  # fmt: skip
NUMBERS: dict[str, int] = {**_COMMON, **_NUMBERS[MACHINE]} if MACHINE in _NUMBERS else {}
"""System calls by name; empty on a machine that this module does not know, where those measures are left out."""

# PyDLL keeps the interpreter lock during a call, which a fork by `clone` needs.
_LIBC = ctypes.PyDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long


def fail(what: str) -> OSError:
    """Build the error of the call that just failed."""
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def call(name: str, *args: Any) -> int:
    """Make a system call by name. Raises OSError when it fails or when its number is not known here."""
    if name not in NUMBERS:
        raise OSError(38, f"{name}: no number known on {MACHINE}")
    widened = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    result = int(_LIBC.syscall(ctypes.c_long(NUMBERS[name]), *widened))
    if result < 0:
        raise fail(name)
    return result


def prctl(option: int, *args: int) -> int:
    """Call prctl; missing arguments are 0. Raises OSError."""
    values = [ctypes.c_ulong(a) for a in (*args, 0, 0, 0, 0)[:4]]
    result = int(_LIBC.prctl(ctypes.c_int(option), *values))
    if result < 0:
        raise fail(f"prctl {option}")
    return result


def unshare(flags: int) -> None:
    """Leave the namespaces named by `flags` for new ones. Raises OSError."""
    if _LIBC.unshare(ctypes.c_int(flags)) < 0:
        raise fail("unshare")


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount. Raises OSError that names the target."""
    result = _LIBC.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind.encode() or None,
        ctypes.c_ulong(flags),
        data.encode() or None,
    )
    if result < 0:
        raise fail(f"mount {target}")


def unmount(target: str) -> None:
    """Detach a mount at once, used or not. Raises OSError."""
    if _LIBC.umount2(os.fsencode(target), ctypes.c_int(2)) < 0:
        raise fail(f"unmount {target}")


def advise(address: ctypes.c_void_p, nbytes: int, advice: int) -> bool:
    """Give the kernel advice about a piece of memory; whether it took it."""
    return int(_LIBC.madvise(address, ctypes.c_size_t(nbytes), ctypes.c_int(advice))) == 0


def fork_into(flags: int) -> int:
    """Fork like `os.fork`, the child in new namespaces. Raises OSError, with nothing forked.

    The child must only fork again: the C library does not know that the number of this thread has changed.
    """
    if MACHINE not in _NUMBERS:
        raise OSError(38, "clone")
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    sigchld = 17
    pid = int(_LIBC.syscall(ctypes.c_long(NUMBERS["clone"]), ctypes.c_long(flags | sigchld), None, None, None, None))
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    error = fail("clone") if pid < 0 else None
    python.PyOS_AfterFork_Parent()
    if error:
        raise error
    return pid


SET_PDEATHSIG, SET_DUMPABLE, SET_KEEPCAPS, CAPBSET_DROP = 1, 4, 8, 24
SET_CHILD_SUBREAPER, SET_NO_NEW_PRIVS, CAP_AMBIENT = 36, 38, 47
"""Options of prctl."""
ADVICE_COLLAPSE = 25
"""Advice of madvise: gather into huge pages now."""
