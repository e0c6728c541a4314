"""Tokens of a candidate's files, whatever they hold."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kengine.curate.code import cuda, lexical, python
from kengine.curate.code.leaves import Leaves
from kengine.curate.code.model import Tokens
from kengine.curate.code.walk import walk
from kengine.errors import UsageError

if TYPE_CHECKING:
    from tree_sitter import Node

LARGEST = 1_000_000
"""Bytes of the largest file whose code is looked at; a larger one counts as a text that is equal or is not."""

_PYTHON = (".py", ".pyi")
_CUDA = (".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c", ".h", ".hpp", ".hip")

_PYTHON_LINE = re.compile(rb"^(?:import|from|def|class|@\w)", re.MULTILINE)

Files = Iterable[tuple[str, str]]
"""Paths and texts of files."""


def tokenise(files: Files, skip: Callable[[Node], bool] | None = None, literals: bool = False) -> Tokens:
    """The tokens of files together: names are shared among them.

    skip: nodes of the top of a file to leave out. literals: numbers and texts count. Raises UsageError when the parsers
    are not installed.
    """
    leaves = Leaves(literals)
    for path, text in files:
        _add(leaves, path.lower(), text.encode(errors="surrogatepass"), skip)
    return leaves.resolve()


def _add(leaves: Leaves, path: str, source: bytes, skip: Callable[[Node], bool] | None) -> None:
    leaves.begin()
    if len(source) > LARGEST or b"\0" in source:
        leaves.add(b"\0" + hashlib.sha256(source.translate(None, b" \t\r\n\f\v")).digest())
        return
    grammar = python.GRAMMAR if path.endswith(_PYTHON) else cuda.GRAMMAR if path.endswith(_CUDA) else None
    if grammar is python.GRAMMAR and is_native(source):
        grammar = cuda.GRAMMAR
    if grammar is None:
        lexical.add_tokens(source, leaves, lexical.guess_style(source))
        leaves.bound |= lexical.find_bound(source)
    elif not walk(grammar, source, leaves, skip):
        leaves.bound |= lexical.find_bound(source)


def is_native(source: bytes) -> bool:
    """Whether a text is CUDA or HIP, whatever its file is called: rows of data sets often do not say."""
    return (b"__global__" in source or b"#include" in source) and _PYTHON_LINE.search(source) is None


def check_installed() -> None:
    """Raise UsageError when a parser or the library of sketches is missing."""
    for grammar in (python.GRAMMAR, cuda.GRAMMAR):
        grammar.parser()
    from importlib.util import find_spec

    if find_spec("rensa") is None:
        raise UsageError("comparing code needs rensa: pip install 'kernel-engine[curate]'")
