"""Enough of C++'s lexical structure to find things in a source without being fooled by comments and strings."""

from __future__ import annotations

import re

_OPAQUE = re.compile(
    r"""//(?:\\\r?\n|[^\n])*            # line comment, with continuations
      | /\*.*?(?:\*/|\Z)                # block comment
      | (?:u8|[uUL])?R"([^\s()\\]{0,16})\(.*?\)\1"   # raw string
      | "(?:\\.|[^"\\\n])*"             # string
      | (?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'  # character, but not a digit separator
    """,
    re.S | re.X,
)


def blank(source: str) -> str:
    """The source with the inside of comments and literals turned to spaces; offsets and lines stay."""

    def hide(match: re.Match[str]) -> str:
        text = match.group(0)
        keep = 1 if text[0] in "\"'" else 0
        inner = re.sub(r"[^\n]", " ", text[keep : len(text) - keep])
        return text[:keep] + inner + text[len(text) - keep :]

    return _OPAQUE.sub(hide, source)


def line_of(source: str, offset: int) -> int:
    """The line (from 1) of an offset."""
    return source.count("\n", 0, offset) + 1


_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def closing(text: str, start: int) -> int:
    """The offset of the bracket that closes the one at `start`, -1 if there is none. Angle brackets count only when
    `start` is one, and not within other brackets."""
    opener, closer, depth, i = text[start], _PAIRS[text[start]], 0, start
    while i < len(text):
        c = text[i]
        if c == opener:
            depth += 1
        elif c == closer and not (opener == "<" and text[i - 1] == "-"):
            depth -= 1
            if not depth:
                return i
        elif opener == "<" and c in "([{":
            i = closing(text, i)
            if i < 0:
                return -1
        elif opener == "<" and c in ";":
            return -1
        i += 1
    return -1


def split_commas(text: str) -> list[str]:
    """Split at commas outside of all brackets; angle brackets count outside of the others."""
    parts, depth, angles, start = [], 0, 0, 0
    for i, c in enumerate(text):
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif not depth and c == "<":
            angles += 1
        elif not depth and c == ">" and angles:
            angles -= 1
        elif c == "," and not depth and not angles:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return parts
