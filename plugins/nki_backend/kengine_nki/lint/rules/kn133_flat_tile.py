"""A tile on chip with fewer than two axes.

What it does:
Looks at shapes of tiles in SBUF and PSUM that are written out.

Why is this bad:
Memory on chip has partitions and bytes in them: the first axis of a tile is the partition axis, and there is at least
one free axis.

Example:
    y = nl.ndarray((128,), dtype=nl.float32, buffer=nl.sbuf)

Use instead:
    y = nl.ndarray((128, 1), dtype=nl.float32, buffer=nl.sbuf)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at allocations."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        tile = tiles.of(call.node) if call.is_new else None
        if tile is None or tile.made is not call.node or not tile.on_chip or tile.shape is None:
            continue
        if len(tile.shape) < 2:
            rows = tile.shape[0] if tile.shape and tile.shape[0] else "n"
            yield hit(
                call.node,
                f"a tile in {tile.memory} needs a partition axis and a free axis, this shape has {len(tile.shape)}; "
                f"write ({rows}, 1)",
            )


RULE = Rule("KN133", "flat-tile", "warn", check, __doc__)
