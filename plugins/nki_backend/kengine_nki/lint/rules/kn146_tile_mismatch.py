"""Operands of an instruction whose shapes do not fit each other.

What it does:
Compares shapes that are known: contraction and result of `nc_matmul`, result of `nc_transpose`, and partitions and
free sizes of elementwise instructions, in the standalone package.

Why is this bad:
The instruction is refused; tiles are not broadcast.

Example:
    nisa.tensor_tensor(dst=y, data1=x, data2=bias, op=nl.add)  # x is (128, 512), bias is (128, 1)

Use instead:
    nisa.tensor_scalar(dst=y, data=x, op0=nl.add, operand0=bias)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.tiles import Tile, Tiles, find_tiles

_ELEMENTWISE = {
    "tensor_tensor": ("data1", "data2"), "activation": ("data",), "activation_reduce": ("data",),
    "tensor_scalar": ("data",), "scalar_tensor_tensor": ("data",), "reciprocal": ("data",),
    "tensor_scalar_reduce": ("data",), "tensor_tensor_scan": ("data0", "data1"), "affine_select": ("on_true_tile",),
    "exponential": ("src",),
}  # fmt: skip
_VECTORS = {
    "tensor_scalar": ("operand0", "operand1"), "activation": ("bias", "scale"), "activation_reduce": ("bias", "scale"),
    "scalar_tensor_tensor": ("operand0",), "tensor_scalar_reduce": ("operand0",),
}  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Compare shapes."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        if not call.is_isa:
            continue
        for problem in _problems(tiles, call) if call.is_new else _contraction(tiles, call):
            yield hit(call.node, f"{call.name.short}: {problem}")


def _problems(tiles: Tiles, call: ApiCall) -> Iterator[str]:
    dst = tiles.operand(call, "dst")
    if call.member == "nc_matmul" and call.get("perf_mode") is None:
        stationary, moving = tiles.operand(call, "stationary"), tiles.operand(call, "moving")
        yield from _contraction(tiles, call)
        if _differ(_rows(dst), _columns(stationary)):
            yield f"dst has {_rows(dst)} partitions, stationary has {_columns(stationary)} columns"
        if _differ(_columns(dst), _columns(moving)):
            yield f"dst has {_columns(dst)} columns, moving has {_columns(moving)}"
    elif call.member == "nc_transpose":
        data = tiles.operand(call, "data")
        if _differ(_rows(dst), _columns(data)) or _differ(_columns(dst), _rows(data)):
            yield f"the transpose of ({_rows(data)}, {_columns(data)}) does not fit ({_rows(dst)}, {_columns(dst)})"
    for name in _ELEMENTWISE.get(call.member, ()):
        tile = tiles.operand(call, name)
        if _differ(_rows(dst), _rows(tile)):
            yield f"dst has {_rows(dst)} partitions and {name} {_rows(tile)}"
        elif _differ(_columns(dst), _columns(tile)):
            yield f"dst has {_columns(dst)} elements in a partition and {name} {_columns(tile)}"
    for name in _VECTORS.get(call.member, ()):
        columns = _columns(tiles.operand(call, name))
        if columns is not None and columns != 1:
            yield f"{name} is a number or a tile of one element in a partition, it has {columns}"


def _contraction(tiles: Tiles, call: ApiCall) -> Iterator[str]:
    rows = [_rows(tiles.operand(call, name)) for name in ("stationary", "moving")]
    if call.member == "nc_matmul" and _differ(rows[0], rows[1]):
        yield f"stationary has {rows[0]} partitions and moving {rows[1]}; both are the contraction"


def _rows(tile: Tile | None) -> int | None:
    return tile.partitions if tile is not None and tile.on_chip else None


def _columns(tile: Tile | None) -> int | None:
    return tile.free if tile is not None and tile.on_chip else None


def _differ(a: int | None, b: int | None) -> bool:
    return a is not None and b is not None and a != b


RULE = Rule("KN146", "tile-mismatch", "warn", check, __doc__)
