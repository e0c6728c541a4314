"""Device texts of a candidate: bare files, and strings of a Python file that hold kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from kengine.lint.rule import Context, Hit, Severity
from kengine.model import Candidate
from kengine.simt.kernels import Definition, find_kernels
from kengine.simt.lexer import blank, line_of

_SIGNS = ("__global__", "__device__", "torch::Tensor", "hipLaunchKernelGGL")
MAX_TEXT = 2_000_000
"""Characters beyond which a text is not looked at."""


@dataclass(frozen=True)
class DeviceText:
    """One text. first: the line of the file that its first line is on."""

    text: str
    path: str
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


@dataclass(frozen=True)
class TextRule:
    """A rule over device texts; see `kengine.lint.rule.Rule` for code, name, severity and doc."""

    code: str
    name: str
    severity: Severity
    check: Callable[[DeviceText, Context], Iterable[Hit]]
    doc: str


def find_texts(candidate: Candidate) -> Iterator[DeviceText]:
    """Every device text of a candidate, in order; nothing of a Python file that does not parse."""
    for file in candidate.files:
        if len(file.text) > MAX_TEXT:
            continue
        if not file.path.endswith(".py") and (candidate.language != "python" or file is not candidate.main):
            yield DeviceText(file.text, file.path)
            continue
        try:
            tree = ast.parse(file.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and any(s in node.value for s in _SIGNS):
                yield DeviceText(node.value, file.path, node.lineno)
