"""A reduction over an axis that the engines cannot reduce.

What it does:
Looks at `axis` of `nisa.tensor_reduce` and of `nl.sum`, `nl.max`, `nl.mean` and their like: the partition axis (0)
cannot be reduced, and in the standalone package `tensor_reduce` takes the last axes only.

Why is this bad:
The instruction is refused. Engines work along the free axes of each partition.

Example:
    nisa.tensor_reduce(dst=total, op=nl.add, data=x, axis=0)

Use instead:
    nisa.nc_matmul(dst=total, stationary=ones, moving=x)  # sums over partitions
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.tiles import Tile, Tiles, find_tiles

_LANGUAGE = frozenset({"sum", "max", "min", "mean", "prod", "var", "all"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at axes."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        reduces = call.is_isa and call.member == "tensor_reduce"
        if not reduces and not (call.name.module == "language" and call.member in _LANGUAGE):
            continue
        data = tiles.operand(call, "data", "x")
        axes = _axes(tiles, call, data)
        if axes is None or (data is not None and data.partition != 0 and data.shape is not None):
            continue
        if 0 in axes:
            yield hit(
                call.node,
                f"{call.name.short} cannot reduce the partition axis (axis 0); multiply with ones on the tensor "
                "engine, or transpose first",
            )
            continue
        ndim = len(data.shape) if data is not None and data.shape is not None else 0
        if reduces and call.is_new and ndim and sorted(axes) != list(range(ndim - len(axes), ndim)):
            yield hit(call.node, f"nisa.tensor_reduce takes the last axes of {ndim}, got {tuple(axes)}")


def _axes(tiles: Tiles, call: ApiCall, data: Tile | None) -> list[int] | None:
    node = call.get("axis")
    parts = list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else [node] if node is not None else []
    ndim = len(data.shape) if data is not None and data.shape is not None else None
    axes: list[int] = []
    for part in parts:
        axis = tiles.integers.integer(part)
        if axis is None or (axis < 0 and ndim is None):
            return None
        axes.append(axis + ndim if axis < 0 and ndim is not None else axis)
    return axes or None


RULE = Rule("KN140", "reduce-axis", "warn", check, __doc__)
