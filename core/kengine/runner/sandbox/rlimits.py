"""Resource limits of a runner: what counts from the start, and what counts from its candidate on."""

from __future__ import annotations

import os
import resource
from collections.abc import Mapping
from typing import Any


def apply_first(limits: Mapping[str, Any], own_user: bool) -> None:
    """Limit file size, descriptors, core dumps and processes.

    own_user: whether this user's processes are this runner's alone; without that the count starts at what runs now.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, limits.get("file_bytes"))
    _lower(resource.RLIMIT_NOFILE, limits.get("open_files"))
    processes = limits.get("processes")
    if processes:
        _lower(resource.RLIMIT_NPROC, processes if own_user else 8 * processes + _tasks_of(os.getuid()))


def apply_last(limits: Mapping[str, Any], device: str) -> None:
    """Limit processor time and memory over what warming up has already taken.

    A GPU's driver reserves address space by the terabyte, so there only memory of this process's own is counted.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    if cpu := limits.get("cpu_s"):
        soft = int(used.ru_utime + used.ru_stime + cpu) + 1
        _lower(resource.RLIMIT_CPU, soft, soft + 2)
    if memory := limits.get("memory_bytes"):
        sizes = {key: int(value.split()[0]) << 10 for key, value in _status() if key in ("VmSize", "VmData")}
        if device == "cpu":
            _lower(resource.RLIMIT_AS, sizes["VmSize"] + memory)
        else:
            _lower(resource.RLIMIT_DATA, sizes["VmData"] + memory)


def _lower(kind: int, soft: int | None, hard: int | None = None) -> None:
    if soft is None:
        return
    _, highest = resource.getrlimit(kind)
    wanted = soft if hard is None else hard
    hard = wanted if highest == resource.RLIM_INFINITY else min(wanted, highest)
    resource.setrlimit(kind, (min(soft, hard), hard))


def _status() -> list[tuple[str, str]]:
    with open("/proc/self/status") as file:
        return [(key, value) for key, _, value in (line.partition(":") for line in file)]


def _tasks_of(uid: int) -> int:
    count = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if entry.stat().st_uid == uid:
                    count += len(os.listdir(f"/proc/{entry.name}/task"))
            except OSError:
                continue
    return count
