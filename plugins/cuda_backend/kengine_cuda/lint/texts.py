"""The device sources of a candidate, as text: a bare file, or the strings of a Python file that hold kernels."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from kengine.lint.rule import Hit
from kengine.lint.source import SourceTree
from kengine.native.lines import LineMap, locate
from kengine.simt.kernels import Definition, find_kernels
from kengine.simt.lexer import blank, line_of


@dataclass(frozen=True)
class DeviceText:
    """One source. code: the text with comments and strings blanked out."""

    text: str
    code: str
    lines: LineMap

    def hit(self, offset: int, message: str) -> Hit:
        """A hit at an offset of the code."""
        return Hit(self.lines.line(line_of(self.code, offset)) or 1, message, 1)

    def kernels(self) -> list[Definition]:
        """Kernels with a body."""
        return find_kernels(self.code)

    def body(self, kernel: Definition) -> str:
        """What stands between a kernel's braces."""
        return self.code[kernel.body_start + 1 : kernel.body_end]


@lru_cache(maxsize=16)
def find_texts(source: SourceTree) -> tuple[DeviceText, ...]:
    """Every device source in a file."""
    if source.path.endswith((".cu", ".cuh", ".hip")):
        return (_make(source.text, source.text),)
    found = []
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and re.search(r"\b__global__\b", node.value):
            found.append(_make(node.value, source.text))
    return tuple(found)


def _make(text: str, whole: str) -> DeviceText:
    return DeviceText(text, blank(text), locate(text, whole))


def kernels_of(source: SourceTree) -> Iterator[tuple[DeviceText, Definition]]:
    """Every kernel of every device source."""
    for text in find_texts(source):
        for kernel in text.kernels():
            yield text, kernel
