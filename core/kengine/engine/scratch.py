"""Folders for temporary files that tell whether their owner still lives, and the removal of those whose owner does not.

The owner holds a lock on the folder itself. A lock ends with its process however that dies, and a process number that
is used again says nothing about it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

PREFIX = "kengine-"
MARK = stat.S_ISVTX
"""Permission bit that a folder gets once it has been locked, so that an unlocked one with it has lost its owner."""
DAY_S = 86_400.0
"""How long a folder without the mark is left alone after its last change."""
_NAME = re.compile(rf"{PREFIX}(?:[a-z]+-)?[a-z0-9_]{{8}}\Z")
_WORKDIR = re.compile(r"[jr]\d+\Z")


class Scratch:
    """A new folder that is this process's own until it is closed or the process ends; `with` closes it.

    purpose: stands in its name. mode: its permissions.
    """

    def __init__(self, purpose: str = "", mode: int = 0o700) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{purpose}-" if purpose else PREFIX))
        self._fd = _open(str(self.path))
        # Locked before it is marked. Where a file system cannot lock a folder there is no mark, and nobody removes it.
        os.chmod(self.path, mode | MARK if self._fd >= 0 and _lock(self._fd) else mode)

    def close(self) -> None:
        """Remove it with all that is in it; safe to call again."""
        shutil.rmtree(self.path, ignore_errors=True)
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _Orphan(NamedTuple):
    path: str
    fd: int


def sweep(folder: Path) -> threading.Thread | None:
    """Remove what lies in a folder for temporary files and has lost its owner, in a thread; None when nothing has.

    Only folders that carry this module's name, belong to this user and are locked by nobody; one without the mark must
    look like an engine's and have been left alone for a day. Never raises.
    """
    with suppress(OSError, RuntimeError):
        orphans = _find(folder)
        if orphans:
            remover = threading.Thread(target=_remove, args=(orphans,), name="kengine-sweep", daemon=True)
            try:
                remover.start()
            except BaseException:
                for orphan in orphans:
                    os.close(orphan.fd)
                raise
            return remover
    return None


def _find(folder: Path) -> list[_Orphan]:
    """What may be removed, each open and locked, so that no other process removes it at the same time."""
    with os.scandir(folder) as entries:
        named = [entry for entry in entries if entry.name.startswith(PREFIX) and _NAME.match(entry.name)]
    found = []
    for entry in named:
        with suppress(OSError):
            about = entry.stat(follow_symlinks=False)
            if about.st_uid != os.geteuid() or not (_is_marked(about) or _is_forgotten(entry.path, about)):
                continue
            fd = _open(entry.path)
            if fd >= 0 and _lock(fd) and os.path.samestat(os.fstat(fd), os.stat(entry.path, follow_symlinks=False)):
                found.append(_Orphan(entry.path, fd))
            elif fd >= 0:
                os.close(fd)
    return found


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1


def _lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _is_marked(about: os.stat_result) -> bool:
    return stat.S_ISDIR(about.st_mode) and stat.S_IMODE(about.st_mode) in (MARK | 0o700, MARK | 0o711)


def _is_forgotten(path: str, about: os.stat_result) -> bool:
    """Whether a folder without the mark is an engine's by what is in it, and nothing has happened there for a day."""
    if about.st_mode != stat.S_IFDIR | 0o711 or time.time() - about.st_mtime < DAY_S:
        return False
    with os.scandir(path) as entries:
        return all(_WORKDIR.match(entry.name) and entry.is_dir(follow_symlinks=False) for entry in entries)


def _remove(orphans: Sequence[_Orphan]) -> None:
    """Remove each; what cannot be, or is left when the process ends first, stays marked for the next one."""
    for path, fd in orphans:
        shutil.rmtree(path, ignore_errors=True)
        os.close(fd)
