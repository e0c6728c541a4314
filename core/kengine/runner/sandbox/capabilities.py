"""Capabilities: all of them given up, so that user 0 inside a sandbox is nobody special."""

from __future__ import annotations

import struct

from kengine.runner.sandbox import syscalls

_LAST = 63
DAC_READ_SEARCH = 2


def held() -> int:
    """Effective capabilities of this process, as bits."""
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith("CapEff:"):
                return int(line.split()[1], 16)
    return 0


def bound(spare: int | None = None) -> None:
    """Make sure that no program started later can gain one but `spare`; needs the right to do so, else does nothing."""
    for number in range(_LAST + 1):
        if number == spare:
            continue
        try:
            syscalls.prctl(syscalls.CAPBSET_DROP, number)
        except OSError:
            return  # past the last that this kernel knows, or not allowed: no_new_privs stands guard alone


def drop() -> bool:
    """Give up every capability of this process. Returns whether none is left."""
    ambient_clear_all = 4
    version_3 = 0x20080522
    try:
        syscalls.prctl(syscalls.CAP_AMBIENT, ambient_clear_all)
        syscalls.call("capset", struct.pack("=Ii", version_3, 0), bytes(24))
    except OSError:
        pass
    return held() == 0


def keep_reading() -> bool:
    """Keep only the right to read any file, over a change of user and for programs started later.

    For an interpreter that lies where only root can go; what may be read is then Landlock's affair. Call it after
    `prepare_keeping` and the change of user. Returns whether it is held.
    """
    bit, version_3, raise_ambient = 1 << DAC_READ_SEARCH, 0x20080522, 2
    try:
        syscalls.call("capset", struct.pack("=Ii", version_3, 0), struct.pack("=IIIIII", bit, bit, bit, 0, 0, 0))
        syscalls.prctl(syscalls.CAP_AMBIENT, raise_ambient, DAC_READ_SEARCH)
    except OSError:
        return False
    return held() == bit


def prepare_keeping() -> None:
    """Let capabilities outlive the next change of user."""
    syscalls.prctl(syscalls.SET_KEEPCAPS, 1)
