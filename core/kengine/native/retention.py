"""Which of the folders of parts stay on this machine: those in use, the last few, and none that is a month old.

A folder is in use as long as a process lives that asked for it, or one forked from it that has kept its descriptors:
each holds a shared lock on a file next to the folder, where runners, who read the folder itself, do not come. Whoever
removes one holds that lock alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from kengine.errors import UsageError

VARIABLE = "KENGINE_CACHE_VERSIONS"
"""Environment variable that says how many folders that nobody uses are kept."""
KEPT = 3
"""The same where the variable is not set."""
UNUSED_S = 30 * 24 * 3600
"""Seconds after which a folder that nobody has used is removed."""
STRAY_S = 24 * 3600
"""Seconds after which what lies next to the folders and is none, or what was never finished, is removed."""
_UNMARKED_S = 3600
"""Seconds for which a folder without a lock's file, as older versions left them, counts as in use."""
_PATIENCE_S = 5.0
_MARK = ".used"
_LEAVING = ".removed-"

_held: dict[Path, int] = {}


def hold(folder: Path) -> bool:
    """Mark a folder as in use until this process ends; False where that cannot be said: another user's folder, or a
    file system without locks."""
    mark = _mark(folder)
    fd = _held.get(folder)
    if fd is not None and _is(fd, mark):  # a fork may have closed it, and opened something else under its number
        _touch(mark)
        return True
    until = time.monotonic() + _PATIENCE_S
    while (taken := _lock(mark, fcntl.LOCK_SH)) is None:
        if time.monotonic() > until:
            return False
        time.sleep(0.02)  # somebody removes the folder
    if taken < 0:
        return False
    _held[folder] = taken
    _touch(mark)
    return True


def kept() -> int:
    """How many folders stay besides those in use. Raises UsageError for a variable that is no number."""
    word = os.environ.get(VARIABLE, "").strip()
    if not word:
        return KEPT
    if not word.isdecimal():
        raise UsageError(f"{VARIABLE} is {word!r}; expected a whole number, such as {KEPT}, or nothing")
    return int(word)


def remove_others(parent: Path, own: Path) -> None:
    """Remove the folders in `parent` that are too many or too old, but `own` and those in use, and stray files.

    What another user owns stays. Raises UsageError as `kept` does.
    """
    most, now = kept(), time.time()
    folders: list[tuple[float, Path]] = []
    for place in _list(parent):
        with contextlib.suppress(OSError):
            if place == own or place == _mark(own):
                continue
            if place.name.startswith(_LEAVING):
                _remove(place)
            elif place.name.endswith(_MARK):
                if not place.with_suffix("").exists():
                    _remove_mark(place)
            elif _is_version(place):
                folders.append((_last_use(place), place))
            elif now - place.lstat().st_mtime > STRAY_S:
                _remove(place)
    for number, (used, folder) in enumerate(sorted(folders, reverse=True)):
        if number >= most or now - used > UNUSED_S:
            with contextlib.suppress(OSError):
                _remove_unused(folder, now - used)


def remove_unfinished(folder: Path) -> None:
    """Remove what builds that were killed have left in a folder."""
    for place in _list(folder):
        with contextlib.suppress(OSError):
            unfinished = place.name.startswith("tmp") or place.suffix == ".part"
            if unfinished and time.time() - place.lstat().st_mtime > STRAY_S:
                _remove(place)


def _is_version(place: Path) -> bool:
    """Whether it is the folder of a combination, by its name: a digest."""
    name = place.name
    return len(name) == 16 and set(name) <= set("0123456789abcdef") and place.is_dir() and not place.is_symlink()


def _last_use(folder: Path) -> float:
    times = [folder.stat().st_mtime]
    with contextlib.suppress(OSError):
        times.append(_mark(folder).stat().st_mtime)
    return max(times)


def _remove_unused(folder: Path, idle_s: float) -> None:
    """Remove a folder that nobody holds. What is left when this is interrupted is no folder of parts any more."""
    if idle_s < _UNMARKED_S and not _mark(folder).exists():
        return
    with _alone(_mark(folder)) as alone:
        if alone:
            leaving = folder.with_name(f"{_LEAVING}{folder.name}-{os.getpid()}")
            folder.rename(leaving)
            _mark(folder).unlink()
            _remove(leaving)


def _remove_mark(mark: Path) -> None:
    with _alone(mark) as alone:
        if alone and not mark.with_suffix("").exists():
            mark.unlink()


@contextlib.contextmanager
def _alone(mark: Path) -> Iterator[bool]:
    """Hold the lock alone, if nobody else holds it."""
    fd = _lock(mark, fcntl.LOCK_EX)
    try:
        yield fd is not None and fd >= 0
    finally:
        if fd is not None and fd >= 0:
            os.close(fd)


def _lock(mark: Path, how: int) -> int | None:
    """A descriptor that holds the lock; None while another holds it, -1 where there can be none."""
    while True:
        try:
            fd = os.open(mark, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError:
            return -1
        try:
            fcntl.flock(fd, how | fcntl.LOCK_NB)
        except OSError as error:
            os.close(fd)
            return None if isinstance(error, BlockingIOError) else -1
        if _is(fd, mark):
            return fd
        os.close(fd)  # it was removed before it was locked


def _is(fd: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(fd), os.stat(place))
    except OSError:
        return False


def _touch(place: Path) -> None:
    with contextlib.suppress(OSError):  # another user's
        os.utime(place)


def _mark(folder: Path) -> Path:
    return folder.with_name(folder.name + _MARK)


def _list(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)
