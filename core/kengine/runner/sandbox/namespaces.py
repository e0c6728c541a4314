"""Namespaces: processes, mounts, network, System V memory and host name of a runner's own."""

from __future__ import annotations

import os
from collections.abc import Collection

from kengine.runner.sandbox import syscalls

_FLAGS = {
    "pid_namespace": 0x20000000,
    "mount_namespace": 0x00020000,
    "network_namespace": 0x40000000,
    "ipc_namespace": 0x08000000,
    "uts_namespace": 0x04000000,
}
_USER = 0x10000000


def fork(without: Collection[str]) -> tuple[int, tuple[str, ...]]:
    """Fork into as many new namespaces as this process may make; returns 0 in the child, and what was made.

    Tries all with the rights of this process, then all inside a user namespace, then those that go one by one.
    Where none can be made it is a plain fork.
    """
    names = tuple(n for n in _FLAGS if n not in without)
    flags = sum(_FLAGS[n] for n in names)
    if names:
        for user in (0, _USER) if "user_namespace" not in without else (0,):
            ids = os.getuid(), os.getgid()
            try:
                pid = syscalls.fork_into(flags | user)
            except OSError:
                continue
            if pid == 0 and user:
                _map_to_self(*ids)
            return pid, (*names, "user_namespace") if user else names
    pid = os.fork()
    if pid == 0:
        return 0, tuple(n for n in names if n != "pid_namespace" and _enter(n))
    return pid, ()


def _map_to_self(uid: int, gid: int) -> None:
    # Without a map this user would be nobody, and a GPU's driver refuses to share memory with nobody.
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def _enter(name: str) -> bool:
    try:
        syscalls.unshare(_FLAGS[name])
    except OSError:
        return False
    return True
