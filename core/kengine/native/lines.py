"""From a line of a device source back to the line of the candidate's file that it was written on."""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass


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
        tree = ast.parse(candidate)
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
    """The candidate's only line with the same text; with neighbours where there are several."""
    theirs = [line.strip() for line in candidate.split("\n")]
    wanted = lines[index].strip()
    places = [i for i, line in enumerate(theirs) if line == wanted]
    if not wanted or not places:
        return 0
    if len(places) > 1:
        for reach in (1, 2, 3):
            around = [lines[k].strip() for k in range(max(0, index - reach), min(len(lines), index + reach + 1))]
            shift = min(index, reach)
            fitting = [i for i in places if theirs[max(0, i - shift) : i - shift + len(around)] == around]
            if len(fitting) == 1:
                return fitting[0] + 1
        return 0
    return places[0] + 1
