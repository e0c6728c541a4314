"""Both NKI generations are imported in one file.

What it does:
Finds module-level imports of the standalone `nki` package and of `neuronxcc.nki` in one file. Imports inside of `try`
or `if`, which choose one of the two, are not meant.

Why is this bad:
The two differ in how instructions return their results, in indexing and in masks, and functions of one cannot be
called in a kernel of the other. No toolchain runs such a file.

Example:
    import neuronxcc.nki.language as nl
    import nki.isa as nisa

Use instead:
    import nki
    import nki.isa as nisa
    import nki.language as nl
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the imports."""
    first: dict[str, ast.stmt] = {}
    for node in source.tree.body:
        for package in _packages(node):
            first.setdefault(package, node)
    if len(first) == 2:
        later = max(first.values(), key=lambda node: node.lineno)
        yield hit(later, "the file imports both `nki` and `neuronxcc.nki`: use one of them for everything")


def _packages(node: ast.stmt) -> Iterator[str]:
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
        names = [node.module]
    for name in names:
        root = name.partition(".")[0]
        if root in ("nki", "neuronxcc"):
            yield root


RULE = Rule("KN111", "mixed-generations", "warn", check, __doc__)
