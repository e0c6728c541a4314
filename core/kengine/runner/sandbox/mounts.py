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
_DEVICES = (
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/nvidia*", "/dev/kfd", "/dev/dri",
    "/dev/neuron*",
)  # fmt: skip
_FILES = 1 << 18


def devices() -> tuple[str, ...]:
    """List the device files that a runner may use and that are there."""
    return tuple(path for pattern in _DEVICES for path in sorted(glob(pattern)))


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


def _build(
    root: str, reads: Iterable[str], workdir: str, disk_bytes: int | None, extra: str
) -> tuple[str, ...]:
    for path in reads:
        _provide(root, path)
    for path in ("/proc", "/tmp", "/dev", workdir, *((extra,) if extra else ())):
        os.makedirs(root + path, exist_ok=True)
    _seal(root)
    quota = f",size={disk_bytes},nr_inodes={_FILES}" if disk_bytes else ""
    syscalls.mount("tmpfs", f"{root}/tmp", "tmpfs", _NOSUID | _NODEV, f"mode=1777{quota}")
    inside = workdir[len("/tmp") :] if workdir.startswith("/tmp/") else "/.work"
    os.makedirs(f"{root}/tmp{inside}", mode=0o711)
    os.chmod(f"{root}/tmp{inside}", 0o1777)
    if not workdir.startswith("/tmp/"):
        syscalls.mount(f"{root}/tmp{inside}", root + workdir, flags=_BIND)
    if extra:
        if extra.startswith("/tmp/"):
            os.makedirs(root + extra, exist_ok=True)
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
        if not os.path.exists(place) or os.path.ismount(root + place):
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
    at_fdcwd, recursive = -100, 0x8000
    attributes = struct.pack("=QQQQ", _RDONLY | _NOSUID, 0, 0, 0)
    syscalls.call("mount_setattr", at_fdcwd, os.fsencode(root), recursive, attributes, len(attributes))


def device_groups() -> list[int]:
    """Groups through which a device file is open to a user who is not root."""
    groups = set()
    for path in devices():
        for file in glob(f"{path}/*") if os.path.isdir(path) else [path]:
            state = os.stat(file)
            if stat.S_IMODE(state.st_mode) & 0o066 == 0o060 and state.st_gid:
                groups.add(state.st_gid)
    return sorted(groups)
