"""An access pattern that the hardware cannot follow.

What it does:
Looks at `.ap(pattern=...)` written out: one to five `[stride, count]` pairs, and on chip a first stride of 0 or of the
elements in a partition of the tile.

Why is this bad:
The view is refused. The first pair of a pattern on chip walks the partitions.

Example:
    view = tile.ap([[1, 128], [512, 2]])  # tile is (128, 512)

Use instead:
    view = tile.ap([[512, 128], [1, 2]])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.tiles import Tiles, find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at patterns."""
    tiles, inside = find_tiles(source), device_nodes(source)
    for node in source.find(ast.Call):
        if node not in inside or not (isinstance(node.func, ast.Attribute) and node.func.attr == "ap"):
            continue
        tile = tiles.of(node.func.value)
        pattern = node.args[0] if node.args else next((k.value for k in node.keywords if k.arg == "pattern"), None)
        if tile is not None and isinstance(pattern, (ast.List, ast.Tuple)):
            problem = _problem(tiles, tile.free if tile.made is not None and tile.on_chip else None, pattern)
            if problem:
                yield hit(node, problem)


def _problem(tiles: Tiles, free: int | None, pattern: ast.List | ast.Tuple) -> str:
    pairs = pattern.elts
    if any(isinstance(p, ast.Starred) for p in pairs):
        return ""
    if not 1 <= len(pairs) <= 5:
        return f"ap() takes 1 to 5 [stride, count] pairs, got {len(pairs)}"
    if any(isinstance(p, (ast.List, ast.Tuple)) and len(p.elts) != 2 for p in pairs):
        return "ap() takes [stride, count] pairs"
    first = pairs[0]
    if free is None or not isinstance(first, (ast.List, ast.Tuple)):
        return ""
    stride, count = (tiles.integers.integer(e) for e in first.elts)
    if stride is not None and stride not in (0, free) and count is not None and count > 1:
        return f"the first stride of ap() on chip is that of the partitions, {free} or 0, got {stride}"
    return ""


RULE = Rule("KN148", "access-pattern", "warn", check, __doc__)
