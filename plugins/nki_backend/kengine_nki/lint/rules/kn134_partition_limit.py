"""A tile with more than 128 partitions.

What it does:
Evaluates the partition axis of tiles in SBUF and PSUM, of `nl.par_dim` and of slices that `nl.load` reads, from
constants, `nl.tile_size` and integer arithmetic.

Why is this bad:
On-chip memories have 128 partitions.

Example:
    x = nl.ndarray((256, 512), dtype=nl.float32, buffer=nl.sbuf)

Use instead:
    for i in range(2):
        x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=x, src=a[i * 128 : (i + 1) * 128, :])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.limits import PARTITIONS
from kengine_nki.lint.shapes import elements, slice_size
from kengine_nki.lint.tiles import Tiles, find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at allocations and loads."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        size, what = _partitions(tiles, call)
        if size is not None and size > PARTITIONS:
            yield hit(call.node, f"{what} has {size} partitions, more than {PARTITIONS}; split it into tiles of 128")


def _partitions(tiles: Tiles, call: ApiCall) -> tuple[int | None, str]:
    if call.member == "par_dim" and call.node.args:
        return tiles.integers.integer(call.node.args[0]), "nl.par_dim"
    if call.member == "load":
        source = call.get("src")
        if isinstance(source, ast.Subscript) and tiles.of(source) is not None:
            first = elements(source.slice)[0]
            if isinstance(first, ast.Slice) and first.upper is not None:
                return slice_size(tiles.integers, first, None), "the loaded tile"
        tensor = tiles.of(source)
        return (tensor.shape[0] if tensor is not None and tensor.shape else None), "the loaded tile"
    tile = tiles.of(call.node)
    if tile is None or tile.made is not call.node or not tile.on_chip:
        return None, ""
    if any(isinstance(n, ast.Call) for a in call.node.args[:1] for n in ast.walk(a)) and not call.is_new:
        return None, ""  # nl.par_dim inside: the call of par_dim is reported
    return tile.partitions, f"the tile in {tile.memory}"


RULE = Rule("KN134", "partition-limit", "warn", check, __doc__)
