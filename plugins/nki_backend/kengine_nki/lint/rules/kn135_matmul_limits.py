"""A matmul whose operands are larger than the tensor engine takes.

What it does:
Evaluates the operands of `nisa.nc_matmul` and `nl.matmul`: contraction (partitions) up to 128, columns of the
stationary operand up to 128, columns of the moving operand up to 512 (trn3: 4096, or 8192 with a 16-bit result).

Why is this bad:
The instruction is refused.

Example:
    nisa.nc_matmul(dst=acc, stationary=w, moving=x)  # x is (128, 1024)

Use instead:
    for j in range(2):
        nisa.nc_matmul(dst=acc[j], stationary=w, moving=x[:, j * 512 : (j + 1) * 512])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.limits import PARTITIONS, STATIONARY, Chip, chip_of
from kengine_nki.lint.tiles import Tile, Tiles, find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at operands."""
    tiles, chip = find_tiles(source), chip_of(context.target)
    for call in find_calls(source):
        for what, size, limit in _sizes(tiles, call, chip):
            if size is not None and size > limit:
                yield hit(
                    call.node, f"{call.name.short}: {what} has size {size}, more than {limit}; split it into tiles"
                )


def _sizes(tiles: Tiles, call: ApiCall, chip: Chip) -> Iterator[tuple[str, int | None, int]]:
    if call.member == "nc_matmul" and call.get("perf_mode") is None:
        stationary, moving = tiles.operand(call, "stationary"), tiles.operand(call, "moving")
        dst = tiles.operand(call, "dst")
        wide = chip.moving if dst is None or dst.dtype in ("", "float32") else chip.moving_narrow
        yield "the contraction (partition axis)", _most(stationary, moving), PARTITIONS
        yield "the free axis of stationary", stationary.free if stationary is not None else None, STATIONARY
        yield "the free axis of moving", moving.free if moving is not None else None, wide
    elif call.member == "matmul":
        x, y = tiles.operand(call, "x"), tiles.operand(call, "y")
        flag = call.get("transpose_x")
        turned = isinstance(flag, ast.Constant) and flag.value is True
        if flag is None or isinstance(flag, ast.Constant):
            rows, columns = (x.free, x.partitions) if x is not None and turned else (
                (x.partitions, x.free) if x is not None else (None, None)
            )  # fmt: skip
            yield "the contraction", columns, PARTITIONS
            yield "rows of x", rows, STATIONARY
        yield "the free axis of y", y.free if y is not None else None, chip.moving


def _most(*tiles: Tile | None) -> int | None:
    found = [t.partitions for t in tiles if t is not None and t.partitions is not None]
    return max(found) if found else None


RULE = Rule("KN135", "matmul-limits", "warn", check, __doc__)
