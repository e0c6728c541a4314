"""A method or attribute that tensors do not have.

What it does:
Looks at attributes of tiles that the kernel allocates, and compares them with those that tensors of the generation
have.

Why is this bad:
Tensors of a kernel are not arrays: they have no `sum`, `mean`, `T` or `astype` (the old generation has the last).

Example:
    total = tile.sum(axis=1)

Use instead:
    nisa.tensor_reduce(dst=total, op=nl.add, data=tile, axis=1)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import class_members, suggest
from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.tiles import find_tiles

_OLD = ("astype", "view", "reshape", "broadcast_to", "expand_dims", "assert_shape", "shape", "dtype", "ndim", "buffer",
        "name", "size", "strides", "offset", "ap")  # fmt: skip
_INSTEAD = {
    "T": "nisa.nc_transpose transposes", "sum": "nisa.tensor_reduce with op=nl.add sums",
    "mean": "nisa.tensor_reduce with op=nl.add and a multiplication by 1 / n make it",
    "max": "nisa.tensor_reduce with op=nl.maximum finds it", "min": "nisa.tensor_reduce with op=nl.minimum finds it",
    "astype": "nisa.tensor_copy into a tile of the other type casts", "fill": "nisa.memset fills",
    "copy": "nisa.tensor_copy copies", "transpose": "nisa.nc_transpose transposes",
    "broadcast_to": "`broadcast(dim, size)` broadcasts",
}  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at attributes of tiles."""
    tiles = find_tiles(source)
    inside = device_nodes(source)
    for node in source.find(ast.Attribute):
        tile = tiles.of(node.value) if node in inside else None
        if tile is None or tile.parameter or node.attr.startswith("_"):
            continue
        known = class_members("new", "language", "NkiTensor") if tile.generation == "new" else _OLD
        if node.attr not in known:
            instead = f"; {_INSTEAD[node.attr]}" if node.attr in _INSTEAD else suggest(node.attr, known)
            yield hit(node, f"tensors have no attribute {node.attr!r}{instead}")


RULE = Rule("KN124", "unknown-method", "warn", check, __doc__)
