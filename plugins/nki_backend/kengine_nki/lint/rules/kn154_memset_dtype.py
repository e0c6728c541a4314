"""A fraction or float filled into an integer tile.

What it does:
Compares constants of `nisa.memset` with the type of the tile, in the standalone package.

Why is this bad:
Since release 0.3 the value must have the tile's type.

Example:
    counts = nl.ndarray((128, 8), dtype=nl.int32, buffer=nl.sbuf)
    nisa.memset(dst=counts, value=0.0)

Use instead:
    nisa.memset(dst=counts, value=0)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import find_tiles

_INTEGERS = ("int", "uint")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at memsets."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        if call.is_new and call.member == "memset":
            tile, value = tiles.operand(call, "dst"), tiles.integers.number(call.get("value"))
            if tile is not None and tile.dtype.startswith(_INTEGERS) and isinstance(value, float):
                whole = f"; write {int(value)}" if value.is_integer() else ""
                yield hit(call.node, f"memset of {value} into a tile of {tile.dtype}, which takes integers only{whole}")


RULE = Rule("KN154", "memset-dtype", "warn", check, __doc__)
