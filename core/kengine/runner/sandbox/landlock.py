"""Landlock: which files may be read and written, no TCP, no signals and abstract sockets to the outside.

Structures and numbers are those of linux/landlock.h; a right that the kernel does not know yet is left out.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable

from kengine.runner.sandbox import syscalls

_EXECUTE, _WRITE, _READ, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_FIRST_ABI = (1 << 13) - 1
_TCP = 0b11
_SCOPES = 0b11
_LOOK = _EXECUTE | _READ | _READ_DIR
_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE


def version() -> int:
    """Version of the kernel's Landlock interface, 0 when there is none."""
    try:
        return syscalls.call("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def restrict(reads: Iterable[str], writes: Iterable[str]) -> tuple[str, ...]:
    """Restrict this process and its children to these paths; returns the measures in force. Cannot be undone.

    A path that does not exist is skipped. Needs no_new_privs. Nothing is in force when the tuple is empty.
    """
    abi = version()
    if abi == 0:
        return ()
    handled = _FIRST_ABI | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)
    attributes = struct.pack("=QQQ", handled, _TCP if abi >= 4 else 0, _SCOPES if abi >= 6 else 0)
    size = 24 if abi >= 6 else 16 if abi >= 4 else 8
    try:
        ruleset = syscalls.call("landlock_create_ruleset", attributes[:size], size, 0)
    except OSError:
        return ()
    try:
        for path in reads:
            _allow(ruleset, path, handled & _LOOK, handled)
        for path in writes:
            _allow(ruleset, path, handled, handled)
        syscalls.call("landlock_restrict_self", ruleset, 0)
    except OSError:
        return ()
    finally:
        os.close(ruleset)
    return ("landlock", *(("landlock_tcp",) if abi >= 4 else ()), *(("landlock_signal",) if abi >= 6 else ()))


def _allow(ruleset: int, path: str, rights: int, handled: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE & handled
        path_beneath = 1
        syscalls.call("landlock_add_rule", ruleset, path_beneath, struct.pack("=Qi", rights, fd), 0)
    finally:
        os.close(fd)
