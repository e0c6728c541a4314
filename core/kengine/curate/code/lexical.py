"""Tokens without a grammar: for text that no grammar covers, and for the parts of one that do not parse."""

from __future__ import annotations

import re
from typing import Literal

from kengine.curate.code.leaves import FIXED, MEMBER, NAME, Leaves

Style = Literal["python", "c"]
"""Whose comments are left out."""

_COMMENT = {"python": rb"\#[^\n]*", "c": rb"//[^\n]*|/\*.*?\*/"}
_TOKEN = {
    style: re.compile(
        rb"(?P<comment>" + comment + rb")"
        rb"|(?P<string>\"{3}.*?\"{3}|'{3}.*?'{3}|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
        rb"|(?P<number>(?<![\w.])\.?\d[\w.]*)|(?P<name>[^\W\d]\w*)|(?P<line>\n)|(?P<other>\S)",
        re.DOTALL,
    )
    for style, comment in _COMMENT.items()
}
_GIVEN = re.compile(rb"([^\W\d]\w*)[ \t]*(?:=(?!=)|\bin\b)")
_DEFINED = re.compile(rb"\b(?:def|class|struct|void)[ \t]+([^\W\d]\w*)[ \t]*(?:\(([^()]*)\))?")
_PARAMETER = re.compile(rb"([^\W\d]\w*)[ \t\n]*(?:[:=][^,]*)?(?:,|$)")


def guess_style(text: bytes) -> Style:
    """Whether a text looks like Python or like something with braces."""
    return "python" if re.search(rb"^[ \t]*(?:def|import|from|class) ", text, re.MULTILINE) else "c"


def add_tokens(text: bytes, leaves: Leaves, style: Style) -> None:
    """Add the tokens of a text, line by line."""
    after_dot = False
    for match in _TOKEN[style].finditer(text):
        kind, token = match.lastgroup, match[0]
        if kind == "name":
            leaves.add(token, MEMBER if after_dot else NAME)
        elif kind == "number":
            leaves.add_number(token)
        elif kind == "string":
            leaves.add_text(token)
        elif kind == "line":
            leaves.begin()
        elif kind == "other":
            leaves.add(token if token > b"\x7f" else token.decode(), FIXED)
        after_dot = token == b"."


def find_bound(text: bytes) -> set[bytes]:
    """Names that a text seems to give: what is assigned, defined, or a parameter."""
    found = {match[1] for match in _GIVEN.finditer(text)}
    for match in _DEFINED.finditer(text):
        found.add(match[1])
        if match[2]:
            found.update(m[1] for m in _PARAMETER.finditer(match[2].strip()))
    return found
