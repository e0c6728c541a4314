"""C++ code catches the failure of a launch and goes on.

What it does:
Finds `catch` blocks of host functions with a launch that neither throw nor abort.

Why is this bad:
A kernel that never runs passes every test when something else answers for it. It is a warning: the integrity checks
run the candidate with launches that raise.

Example:
    try { launch(x, y); } catch (...) { y = torch::gelu(x); }

Use instead:
    launch(x, y);
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_ENDS = frozenset({"throw", "abort", "exit", "terminate", "TORCH_CHECK", "AT_ERROR", "rethrow_exception"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at handlers."""
    native = find_native(source)
    for cpp in native.sources:
        unit = cpp.unit
        for i, token in enumerate(unit.tokens):
            if token.kind != "id" or token.text != "catch" or unit.word(i + 1) != "(":
                continue
            opening = unit.match.get(i + 1, i) + 1
            words = {unit.word(k) for k in range(opening, min(opening + 300, unit.match.get(opening, opening)))}
            if not words & _ENDS:
                yield cpp.hit(i, "goes on when something failed; let the error out")


RULE = Rule("KE411", "native-fallback", "warn", check, __doc__, ALL)
