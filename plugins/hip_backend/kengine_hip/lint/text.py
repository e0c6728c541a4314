"""Device texts of a candidate: bare files, and strings of a Python file that hold kernels."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kengine.lint.source import SourceTree
from kengine.simt.kernels import Definition, find_kernels
from kengine.simt.lexer import blank, line_of

_SIGNS = ("__global__", "__device__", "torch::Tensor", "hipLaunchKernelGGL")
MAX_TEXT = 400_000
"""Characters beyond which a text is not looked at."""


@dataclass(frozen=True)
class DeviceText:
    """One text. first: the line of the file that its first line is on."""

    text: str
    first: int = 1

    @cached_property
    def code(self) -> str:
        """The text with comments and the insides of literals blanked; offsets stay."""
        return blank(self.text)

    @cached_property
    def kernels(self) -> list[Definition]:
        """Kernels that it defines."""
        return find_kernels(self.code)

    def line(self, offset: int) -> int:
        """The line of the file for an offset of the text."""
        return self.first + line_of(self.text, offset) - 1


@lru_cache(maxsize=16)
def find_texts(source: SourceTree) -> tuple[DeviceText, ...]:
    """Every device text of a file, in order."""
    if not source.tree.body:
        return (DeviceText(source.text),) if len(source.text) <= MAX_TEXT else ()
    return tuple(
        DeviceText(node.value, node.lineno)
        for node in source.nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and any(sign in node.value for sign in _SIGNS)
        and len(node.value) <= MAX_TEXT
    )
