"""From a line of a device source back to the line of the candidate's file that it was written on."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass

from kengine.syntax import parse_tree


@dataclass(frozen=True)
class LineMap:
    """Lines of one device source. `first`: the candidate's line of its first line, 0 when it was put together from
    parts; then single lines are looked for by their text."""

    source: str
    candidate: str
    first: int

    def line(self, line: int | None) -> int:
        """The candidate's 1-based line for a line of the source, 0 when it cannot be told."""
        lines = self.source.split("\n")
        if not line or not 1 <= line <= len(lines):
            return 0
        if self.first:
            return self.first + line - 1
        return _unique(lines, line - 1, self.candidate)


def locate(source: str, candidate: str) -> LineMap:
    """Where a device source stands in the text of a candidate: as the whole of it, or as a string of its own."""
    if source == candidate:
        return LineMap(source, candidate, 1)
    at = candidate.find(source) if source.strip() else -1
    if at >= 0:
        return LineMap(source, candidate, candidate.count("\n", 0, at) + 1)
    for text, line in _strings(candidate):
        if text == source or (source.strip() and text.strip() == source.strip()):
            # Leading newlines may have been stripped from what was compiled.
            return LineMap(source, candidate, line + _leading(text) - _leading(source))
    return LineMap(source, candidate, 0)


@functools.lru_cache(maxsize=8)
def _strings(candidate: str) -> tuple[tuple[str, int], ...]:
    """Long string constants of a Python text that run over several lines, with the lines that they begin on."""
    try:
        tree = parse_tree(candidate)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(
        (node.value, node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        # A string of several lines stands as it is written, if its newlines are no escapes.
        and node.value.count("\n") == (node.end_lineno or 0) - node.lineno
    )


def _leading(text: str) -> int:
    return text[: len(text) - len(text.lstrip())].count("\n")


def _unique(lines: list[str], index: int, candidate: str) -> int:
    """The candidate's line with the same text; of several the one whose neighbours agree the furthest."""
    ours = [line.strip() for line in lines]
    theirs = [line.strip() for line in candidate.split("\n")]
    if not ours[index]:
        return 0

    def agreement(place: int) -> int:
        count = 0
        for step in (-1, 1):
            i, k = index + step, place + step
            while 0 <= i < len(ours) and 0 <= k < len(theirs) and ours[i] == theirs[k]:
                i, k, count = i + step, k + step, count + 1
        return count

    places = [(agreement(i), i + 1) for i, line in enumerate(theirs) if line == ours[index]]
    places.sort(reverse=True)
    if not places or (len(places) > 1 and places[0][0] == places[1][0]):
        return 0
    return places[0][1]
