"""Fenced blocks of code in what a model wrote, and the tags that thoughts stand between."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

THOUGHT_TAGS = "think|thinking|reasoning|thought"
"""Names of the tags, as alternatives of a regular expression; in any case."""
CLOSING = re.compile(rf"</({THOUGHT_TAGS})>", re.IGNORECASE)
OPENING = re.compile(rf"<(?:{THOUGHT_TAGS})>", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*([^\n]*?)[ \t]*\Z")


class Block(NamedTuple):
    """One complete fenced block: the first word after the fence in lower case, and the lines within."""

    tag: str
    code: str


def read_blocks(text: str) -> tuple[list[Block], bool]:
    """Complete fenced blocks in order, and whether the last one never ends.

    A block ends with a line of at least as many of the same mark and nothing else. Lines end as in Python, with "\\n",
    "\\r\\n" or "\\r", and with "\\n" in the blocks; characters that other programs take for ends of lines stay.
    """
    text = _with_plain_ends(text)
    blocks: list[Block] = []
    opening: tuple[str, str, int] | None = None
    for start, mark, info, end in _fences(text):
        if opening is None:
            if not (mark[0] == "`" and "`" in info):
                opening = mark, info, end
        elif mark.startswith(opening[0]) and not info:
            tag = re.split(r"[\s{,:]", opening[1], maxsplit=1)[0].lower()
            blocks.append(Block(tag, text[opening[2] + 1 : start]))
            opening = None
    return blocks, opening is not None


def has_fence(text: str) -> bool:
    """Whether a line of the text may open or close a block."""
    return any(True for _ in _fences(_with_plain_ends(text)))


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _fences(text: str) -> Iterator[tuple[int, str, str, int]]:
    """Lines that may open or close a block: where one begins, its mark, what follows the mark, and where it ends."""
    ticks, tildes = _find(text, "`", 0), _find(text, "~", 0)
    while ticks >= 0 or tildes >= 0:
        found = ticks if tildes < 0 or 0 <= ticks < tildes else tildes
        start = text.rfind("\n", 0, found) + 1
        end = text.find("\n", found)
        end = len(text) if end < 0 else end
        line = _FENCE.match(text, start, end)
        if line is not None:
            yield start, line[1], line[2], end
        ticks = _find(text, "`", end) if 0 <= ticks < end else ticks
        tildes = _find(text, "~", end) if 0 <= tildes < end else tildes


def _find(text: str, mark: str, start: int) -> int:
    """Where a mark stands three times; the search for a single one is many times as fast, and there is seldom one."""
    first = text.find(mark, start)
    return first if first < 0 else text.find(mark * 3, first)
