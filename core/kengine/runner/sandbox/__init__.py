"""The walls around a runner: the strongest that the machine offers, each named when it is in force.

`surround` runs in the keeper and changes what there is to see; `enter` runs in the process that will execute the
candidate and takes away what it may do. A measure that cannot be had is left out, never an error.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kengine.runner.sandbox import capabilities, identity, landlock, memory, mounts, paths, rlimits, seccomp, syscalls


@dataclass(frozen=True)
class Settings:
    """What one sandbox is made of.

    workdir: absolute path of an empty folder, the only place that may be written. limits: `kengine.config.Limits` as
    JSON. reads: paths that may be read. open_reads, open_parents: whether everybody may read them, and may get there.
    device: "cpu" or "cuda". cache: a folder that stays writable beside workdir, or "". without: measures to leave out.
    """

    workdir: str
    limits: Mapping[str, Any]
    reads: tuple[str, ...] = ()
    open_reads: bool = True
    open_parents: bool = True
    device: str = "cpu"
    cache: str = ""
    without: frozenset[str] = field(default_factory=frozenset)


def survey() -> tuple[tuple[str, ...], bool, bool]:
    """List what runners may read, whether everybody may read it, and whether everybody may get there."""
    reads = paths.readable()
    files = [f for m in list(sys.modules.values()) if isinstance(f := getattr(m, "__file__", None), str)]
    return reads, identity.open_to_all([*reads, *files]), identity.open_to_all(identity.parents(reads))


def surround(settings: Settings, in_force: tuple[str, ...]) -> tuple[str, ...]:
    """Change what there is to see, given the namespaces in force; returns the measures taken."""
    measures: tuple[str, ...] = ()
    if "mount_namespace" in in_force and "private_root" not in settings.without:
        measures += mounts.change_root(
            settings.reads, settings.workdir, settings.limits.get("disk_bytes"), settings.cache
        )
    if "uts_namespace" in in_force:
        try:
            import socket

            socket.sethostname("runner")
        except OSError:
            pass
    processes = settings.limits.get("processes")
    own_proc = "pid_namespace" in in_force and "private_root" in measures
    if os.geteuid() == 0 and processes and own_proc and not _wants_uid(settings, measures):
        measures += ("process_numbers",) if identity.limit_numbers(processes) else ()
    return measures


def enter(settings: Settings, in_force: tuple[str, ...], uid: int) -> tuple[str, ...]:
    """Take away what this process may do, for good; returns every measure in force, those given included."""
    measures = list(in_force)

    def take(name: str, done: bool) -> None:
        if done:
            measures.append(name)

    def wanted(name: str) -> bool:
        return name not in settings.without

    take("killed_first", memory.go_first())
    take("no_new_privs", wanted("no_new_privs") and syscalls.prctl(syscalls.SET_NO_NEW_PRIVS, 1) == 0)
    groups = mounts.device_groups() if settings.device != "cpu" else []
    if wanted("landlock") and "no_new_privs" in measures:
        measures += landlock.restrict((*settings.reads, "/proc"), _writable(settings, in_force))
    root = os.geteuid() == 0 and wanted("uid")
    plain = root and _wants_uid(settings, in_force)
    # Another user who could not get to the interpreter keeps one right, to read, and Landlock says what.
    keeping = root and not plain and "landlock" in measures and wanted("capabilities")
    if wanted("capabilities"):
        capabilities.bound(capabilities.DAC_READ_SEARCH if keeping else None)
    if keeping:
        capabilities.prepare_keeping()
        take("uid", identity.take(uid, groups) and capabilities.keep_reading())
    elif plain:
        take("uid", identity.take(uid, groups))
    if wanted("capabilities") and not keeping:
        take("capabilities", capabilities.drop())
    syscalls.prctl(syscalls.SET_DUMPABLE, 1)
    rlimits.apply_first(settings.limits, "uid" in measures or "user_namespace" in measures)
    measures.append("rlimits")
    if wanted("seccomp") and "no_new_privs" in measures:
        signals_held = "pid_namespace" in measures or "landlock_signal" in measures
        code = seccomp.program(
            unix_sockets=settings.device != "cpu" or "private_root" in measures,
            kill_only=None if signals_held else os.getpid(),
        )
        take("seccomp", seccomp.install(code))
    return tuple(measures)


def _wants_uid(settings: Settings, in_force: tuple[str, ...]) -> bool:
    """Whether a user without rights could still import what it must."""
    return (
        "uid" not in settings.without and settings.open_reads and (settings.open_parents or "private_root" in in_force)
    )


def _writable(settings: Settings, in_force: tuple[str, ...]) -> tuple[str, ...]:
    own = ("/tmp", "/dev/shm") if "private_root" in in_force else ()
    cache = (settings.cache,) if settings.cache else ()
    # CUDA names its threads by writing to files of the process itself, and refuses to start where it cannot.
    names = ("/proc/self",) if settings.device != "cpu" else ()
    return (settings.workdir, *own, *cache, *names, *mounts.devices())
