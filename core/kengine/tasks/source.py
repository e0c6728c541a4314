"""Source text: read it, refuse what is no source, and parse it without ever executing or trusting it."""

from __future__ import annotations

import ast
import re
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path

from kengine.errors import UsageError
from kengine.syntax import parse_tree
from kengine.tasks.paths import check_regular, show_path

MAX_BYTES = 2_000_000
"""Largest source file in bytes; a generated kernel has a hundredth of that."""

_COOKIE = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_UTF8 = frozenset({"utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii"})
_WARNINGS = threading.Lock()


class SourceError(Exception):
    """A text that is no readable source: `message` is one sentence, `line` is 1-based and 0 when it has no place."""

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


@dataclass(frozen=True)
class Source:
    """One Python file that parses: its name for people, its text (LF, no byte order mark), its tree."""

    name: str
    text: str
    tree: ast.Module


def read_text(path: Path) -> str:
    """Read one source file. Raises UsageError that names the file when it is missing, no regular file (a FIFO, a
    device), binary or over `MAX_BYTES`."""
    shown = show_path(path)
    try:
        check_regular(path, "a source file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
            size = path.stat().st_size
    except FileNotFoundError:
        raise UsageError(f"{shown}: no such file") from None
    except OSError as error:
        raise UsageError(f"{shown}: cannot be read: {error.strerror or error}") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"{shown}: is {max(size, len(data)):,} bytes, a source file has at most {MAX_BYTES:,}")
    if b"\0" in data:
        raise UsageError(f"{shown}: holds NUL bytes at byte {data.index(0):,}: a binary file, not source text")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{shown}:{line}: is not UTF-8 text (byte 0x{data[error.start]:02x} at offset {error.start:,}); "
            "save it as UTF-8"
        ) from error


def normalise(text: str) -> str:
    """Drop a byte order mark and turn CRLF and CR into LF, so that line numbers agree everywhere."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def check_text(text: str) -> None:
    """Refuse text that is empty, too long, holds NUL bytes or cannot be written as UTF-8. Raises SourceError."""
    if len(text) > MAX_BYTES:
        raise SourceError(f"the source is {len(text):,} characters, at most {MAX_BYTES:,} bytes are allowed")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise SourceError("the source is not valid Unicode text", text.count("\n", 0, error.start) + 1) from None
    if size > MAX_BYTES:
        raise SourceError(f"the source is {size:,} bytes, at most {MAX_BYTES:,} are allowed")
    if not text.strip():
        raise SourceError("the source is empty")
    if "\0" in text:
        raise SourceError("the source holds NUL bytes", text.count("\n", 0, text.index("\0")) + 1)


def parse_python(text: str) -> ast.Module:
    """Parse normalised Python text. Raises SourceError with the line for everything that is not Python.

    Nesting that exhausts the parser, and a coding line that would make the interpreter read other characters than
    are looked at here, count as unreadable.
    """
    check_text(text)
    for number, line in enumerate(text.split("\n", 2)[:2], 1):
        found = _COOKIE.match(line)
        if found:
            if found[1].lower().replace("_", "-") not in _UTF8:
                raise SourceError(f"the source declares the encoding {found[1]!r}; only UTF-8 is read", number)
            break
        if line.strip() and not line.lstrip().startswith("#"):
            break
    try:
        with _WARNINGS, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parse_tree(text)
    except SyntaxError as error:
        raise SourceError(f"syntax error: {error.msg}", error.lineno or 0) from error
    except (RecursionError, MemoryError) as error:
        raise SourceError("the source is nested too deeply to be parsed") from error
    except ValueError as error:
        raise SourceError(f"the source cannot be parsed: {error}") from error


def parse(text: str, name: str) -> Source:
    """Normalise and parse `text`. Raises SourceError."""
    clean = normalise(text)
    return Source(name, clean, parse_python(clean))
