"""Tokens of a C++ source: comments dropped, spliced lines joined, literals kept as one token each."""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_TEXT = 250_000
"""Most characters of a source that are looked at."""

_DIGRAPHS = {"<:": "[", ":>": "]", "<%": "{", "%>": "}", "%:": "#", "%:%:": "##"}
_TOKEN = re.compile(
    r"""(?P<skip>[ \t\f\v\r]+|//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))
      | (?P<nl>\n)
      | (?P<raw>(?:u8|[uUL])?R"(?P<delim>[^\s()\\"]{0,16})\()
      | (?P<str>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"?)
      | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])*'?)
      | (?P<num>\.?[0-9](?:'?[0-9a-zA-Z_.]|(?<=[eEpP])[+-])*)
      | (?P<id>[^\W\d]\w*)
      | (?P<op><<<|%:%:|<<=|\.\.\.|->\*?|::|\#\#|%:|<:(?!:)|:>|<%|%>|<<|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)
    """,
    re.X | re.S,
)


class Token(NamedTuple):
    """One token. kind: id, num, str, char or op. first: it begins its line. sure: no unknown condition guards it.

    hide: macros that it came out of and that are not expanded again.
    """

    kind: str
    text: str
    line: int
    first: bool = False
    sure: bool = True
    spaced: bool = False
    hide: frozenset[str] = frozenset()


def tokenize(text: str, first_line: int = 1) -> list[Token]:
    """Every token in order, in time linear in the text; what is no token of C++ becomes one of one character."""
    joined, starts, lines = _join(text[:MAX_TEXT], first_line)
    found: list[Token] = []
    at, fresh, spaced, size, row = 0, True, False, len(joined), 0
    while at < size:
        match = _TOKEN.match(joined, at)
        if match is None:
            at += 1
            continue
        kind, start, at = match.lastgroup or "op", at, match.end()
        if kind == "delim":
            kind = "raw"
        if kind == "skip":
            spaced = True
            continue
        if kind == "nl":
            fresh = spaced = True
            continue
        word = match.group(0)
        if kind == "raw":
            end = joined.find(")" + match.group("delim") + '"', at)
            body, at = (joined[at:end], end + len(match.group("delim")) + 2) if end >= 0 else (joined[at:], size)
            kind, word = "str", body
        elif kind in ("str", "char"):
            word = _value(word)
        elif kind == "op":
            word = _DIGRAPHS.get(word, word)
        while row + 1 < len(starts) and starts[row + 1] <= start:
            row += 1
        found.append(Token(kind, word, lines[row], fresh, True, spaced))
        fresh = spaced = False
    return found


def _join(text: str, first_line: int) -> tuple[str, list[int], list[int]]:
    """The text without backslash-newlines, and at which offsets which line goes on."""
    pieces: list[str] = []
    starts, lines = [0], [first_line]
    offset, line = 0, first_line
    for row in text.replace("\r\n", "\n").split("\n"):
        bare = row.rstrip(" \t")
        spliced = bare.endswith("\\")
        piece = bare[:-1] if spliced else row + "\n"
        pieces.append(piece)
        offset += len(piece)
        line += 1
        starts.append(offset)
        lines.append(line)
    return "".join(pieces), starts, lines


def _value(literal: str) -> str:
    """What stands between the quotes, common escapes undone."""
    quote = literal[-1] if literal[-1:] in "\"'" else '"'
    inner = literal[literal.find(quote) + 1 :].removesuffix(quote)
    if "\\" not in inner:
        return inner
    return re.sub(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", _unescape, inner, flags=re.S)


def _unescape(match: re.Match[str]) -> str:
    word = match[1]
    if word[0] == "x" and len(word) > 1:
        return chr(int(word[1:], 16))
    if word[0] in "01234567":
        return chr(int(word, 8))
    return {"n": "\n", "t": "\t", "r": "\r"}.get(word, word)
