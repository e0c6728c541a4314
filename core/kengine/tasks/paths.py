"""Paths of files that people name: written as text that every record can hold, and held to be regular files."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from kengine.errors import UsageError

_SURROGATE = re.compile("[\ud800-\udfff]")
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a character device",
    stat.S_IFBLK: "a block device",
}


def show_path(path: str | os.PathLike[str]) -> str:
    r"""Write a path as text that is valid Unicode: a byte of it that is not UTF-8 becomes an escape, `b\xff.py`."""
    return _SURROGATE.sub(_escape, os.fspath(path))


def find_kind(path: Path) -> str:
    """What a path is after following links, where it is no regular file ("a FIFO"); "" for one that is.

    Nothing is opened: opening a FIFO that nobody writes to never returns. Raises OSError for what is not there.
    """
    mode = path.stat().st_mode
    return "" if stat.S_ISREG(mode) else _KINDS.get(stat.S_IFMT(mode), "no regular file")


def check_regular(path: Path, what: str) -> None:
    """Raise UsageError that names a path which is no regular file, and OSError for one that is not there."""
    if kind := find_kind(path):
        advice = "" if kind == "a folder" else "; write what it holds to a file and name that"
        raise UsageError(f"{show_path(path)}: is {kind}, expected {what}{advice}")


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    # What the file system's decoding makes of the bytes 0x80 to 0xff; the others come from no file.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
