"""Text of strangers made safe to print: candidates choose their names, messages and output."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from os.path import commonpath

from kengine.model import Verdict

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def clean(text: str, lines: bool = True) -> str:
    """Write control, format and lone surrogate characters as escapes, so that text cannot drive a terminal.

    Newlines and tabs stay when `lines` is true; otherwise newlines become spaces.
    """
    if not lines:
        text = " ".join(text.split("\n"))
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c in "\n\t" or unicodedata.category(c) not in _HIDDEN else _escape(c) for c in text)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def cut(text: str, size: int, what: str = "characters") -> str:
    """Keep head and tail of a long text and say how much is missing between them."""
    if len(text) <= size:
        return text
    head = size * 2 // 3
    tail = size - head
    return f"{text[:head]}\n[... {len(text) - head - tail} {what} left out ...]\n{text[-tail:]}"


def name(verdict: Verdict) -> str:
    """The candidate's main file as it is shown, or its digest when it came without a name."""
    files = verdict.candidate.files
    return clean(files[0].path, lines=False) if files and files[0].path else verdict.candidate.digest[:12]


def place(verdict: Verdict) -> str:
    """`file:line` of what the message is about; only the file when no line is known."""
    return f"{name(verdict)}:{verdict.line}" if verdict.line else name(verdict)


def shared_folder(places: Sequence[str]) -> str:
    """The folder that two or more places lie in, with its slash; "" when there is none."""
    if len(places) < 2 or any("/" not in path for path in places):
        return ""
    try:
        shared = f"{commonpath([path.rpartition('/')[0] or '/' for path in places])}/".replace("//", "/")
    except ValueError:  # absolute ones among relative ones
        return ""
    return shared if all(path.startswith(shared) for path in places) else ""


def duration(ns: float) -> str:
    """Nanoseconds for a person, three significant digits."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}" if ns < 1000 * size else f"{ns / size:.0f} {unit}"
    return f"{ns:.0f} ns"


def ratio(value: float | None) -> str:
    """A ratio with three significant digits, or a dash."""
    if value is None:
        return "-"
    return f"{value:.3g}" if 1e-3 <= abs(value) < 1e5 or value == 0 else f"{value:.1e}"


def count(number: int, noun: str, plural: str = "") -> str:
    """`1 case`, `2 cases`; `plural` is for words that do not just take an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {plural or noun + 's'}"
