"""A root of a runner's own: the readable paths read-only, the usual devices, and one private folder with a quota."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from glob import glob

from kengine.runner.sandbox import syscalls

_RDONLY, _NOSUID, _NODEV, _NOEXEC, _BIND, _REC, _PRIVATE = 1, 2, 4, 8, 0x1000, 0x4000, 0x40000
_DEVICES = ("null", "zero", "full", "random", "urandom", "kfd", "dri")
_DEVICE_FAMILIES = ("nvidia", "neuron")
_FILES = 1 << 18


def devices() -> tuple[str, ...]:
    """List the device files that a runner may use and that are there."""
    names = [n for n in os.listdir("/dev") if n in _DEVICES or n.startswith(_DEVICE_FAMILIES)]
    return tuple(f"/dev/{name}" for name in sorted(names))


def change_root(reads: Iterable[str], workdir: str, disk_bytes: int | None, extra: str = "") -> tuple[str, ...]:
    """Build the new root over `workdir` and move into it; `workdir`, /tmp and /dev/shm share the quota.

    extra: a folder that stays writable, for caches. Returns the measures in force; () when a mount was refused, with
    everything as it was. Call it in a mount namespace of its own.
    """
    try:
        syscalls.mount("none", "/", flags=_REC | _PRIVATE)
        syscalls.mount("tmpfs", workdir, "tmpfs", _NOSUID | _NODEV, "mode=0755,size=4m")
    except OSError:
        return ()
    try:
        measures = _build(workdir, reads, workdir, disk_bytes, extra)
        os.chdir(workdir)
        syscalls.call("pivot_root", b".", b".")
    except OSError:
        with suppress(OSError):
            os.chdir("/")
            syscalls.unmount(workdir)
        return ()
    syscalls.unmount(".")
    os.chdir("/")
    return measures


def _build(root: str, reads: Iterable[str], workdir: str, disk_bytes: int | None, extra: str) -> tuple[str, ...]:
    quota = f",size={disk_bytes},nr_inodes={_FILES}" if disk_bytes else ""
    os.mkdir(f"{root}/tmp")
    syscalls.mount("tmpfs", f"{root}/tmp", "tmpfs", _NOSUID | _NODEV, f"mode=1777{quota}")
    # After the mount: what may be read can lie under /tmp too.
    for path in reads:
        _provide(root, path)
    for path in ("/proc", "/dev", workdir, *((extra,) if extra else ())):
        os.makedirs(root + path, exist_ok=True)
    inside = workdir if workdir.startswith("/tmp/") else "/tmp/.work"
    os.makedirs(root + inside, exist_ok=True)
    os.chmod(root + inside, 0o1777)
    _seal(root)
    _open(f"{root}/tmp")
    if inside != workdir:
        syscalls.mount(root + inside, root + workdir, flags=_BIND)
    if extra:
        syscalls.mount(extra, root + extra, flags=_BIND | _REC)
    _provide_devices(root)
    try:
        syscalls.mount("proc", f"{root}/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    except OSError:
        syscalls.mount("/proc", f"{root}/proc", flags=_BIND | _REC)
    return ("private_root", "read_only", *(("disk_quota",) if disk_bytes else ()))


def _provide(root: str, path: str) -> None:
    """Show a path of the old root at the same place of the new one; links on the way become links."""
    done = ""
    left = [part for part in path.split("/") if part]
    for _ in range(200):
        if not left:
            break
        part = left.pop(0)
        place = f"{done}/{part}"
        if os.path.islink(place):
            target = os.readlink(place)
            if not os.path.lexists(root + place):
                os.symlink(target, root + place)
            resolved = os.path.normpath(os.path.join(done or "/", target))
            left = [p for p in resolved.split("/") if p] + left
            done = ""
            continue
        if not os.path.exists(place):
            return
        if left:
            if not os.path.isdir(root + place):
                os.mkdir(root + place, 0o755)
        else:
            _bind(place, root + place)
        done = place


def _bind(source: str, target: str) -> None:
    if os.path.isdir(source):
        os.makedirs(target, exist_ok=True)
    elif not os.path.lexists(target):
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    syscalls.mount(source, target, flags=_BIND | _REC)


def _provide_devices(root: str) -> None:
    syscalls.mount("tmpfs", f"{root}/dev", "tmpfs", _NOSUID, "mode=0755,size=1m")
    for path in devices():
        _bind(path, root + path)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"{root}/dev/{name}")
    os.mkdir(f"{root}/tmp/.shm")
    os.chmod(f"{root}/tmp/.shm", 0o1777)
    os.mkdir(f"{root}/dev/shm")
    syscalls.mount(f"{root}/tmp/.shm", f"{root}/dev/shm", flags=_BIND)


def _seal(root: str) -> None:
    """Make everything mounted so far read-only, at once. Raises OSError before Linux 5.12."""
    recursive = 0x8000
    _change(root, recursive, struct.pack("=QQQQ", _RDONLY | _NOSUID, 0, 0, 0))


def _open(place: str) -> None:
    """Make one mount writable again, those inside it left as they are."""
    _change(place, 0, struct.pack("=QQQQ", 0, _RDONLY, 0, 0))


def _change(place: str, flags: int, attributes: bytes) -> None:
    at_fdcwd = -100
    syscalls.call("mount_setattr", at_fdcwd, os.fsencode(place), flags, attributes, len(attributes))


def device_groups() -> list[int]:
    """Groups through which a device file is open to a user who is not root."""
    groups = set()
    for path in devices():
        for file in glob(f"{path}/*") if os.path.isdir(path) else [path]:
            state = os.stat(file)
            if stat.S_IMODE(state.st_mode) & 0o066 == 0o060 and state.st_gid:
                groups.add(state.st_gid)
    return sorted(groups)
