"""A memory given as a string.

What it does:
Finds `buffer="sbuf"` and the like in the standalone package.

Why is this bad:
Strings were dropped in release 0.3; a memory is an object of `nki.language`.

Example:
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer="sbuf")

Use instead:
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import MEMORIES


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at `buffer`."""
    for call in find_calls(source):
        value = call.get("buffer")
        if call.is_new and isinstance(value, ast.Constant) and isinstance(value.value, str):
            meant = value.value if value.value in MEMORIES else "sbuf"
            yield hit(value, f"buffer={value.value!r} is a string; write buffer=nl.{meant}")


RULE = Rule("KN130", "string-buffer", "warn", check, __doc__)
