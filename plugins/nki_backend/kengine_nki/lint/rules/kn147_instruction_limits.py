"""An operand that is larger or smaller than its instruction takes.

What it does:
Evaluates shapes for `nc_transpose` (128 x 128 on the tensor engine, 32 x 32 on the vector engine), `bn_stats` (512
elements in a partition) and `max8`, `nc_find_index8`, `nc_match_replace8` (8 to 16384).

Why is this bad:
The instruction is refused.

Example:
    nisa.nc_transpose(dst=y_psum, data=x)  # x is (128, 512)

Use instead:
    for j in range(4):
        nisa.nc_transpose(dst=y_psum[j], data=x[:, j * 128 : (j + 1) * 128])
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.limits import BN_STATS, PARTITIONS, SEARCH
from kengine_nki.lint.tiles import Tiles, find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at operands."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        if call.is_isa:
            problem = _problem(tiles, call)
            if problem:
                yield hit(call.node, f"{call.name.short}: {problem}")


def _problem(tiles: Tiles, call: ApiCall) -> str:
    data = tiles.operand(call, "data", "src")
    if data is None or not data.on_chip or data.free is None:
        return ""
    rows, columns = data.partitions, data.free
    if call.member == "nc_transpose":
        dst = tiles.operand(call, "dst") if call.is_new else None
        limit = 32 if dst is not None and dst.memory == "sbuf" and call.get("engine") is None else PARTITIONS
        if columns > limit or (rows or 0) > limit:
            where = "; give it a dst in nl.psum to use the tensor engine" if limit == 32 else ""
            return f"the tile of ({rows}, {columns}) is larger than {limit} x {limit}{where}"
    if call.member == "bn_stats" and columns > BN_STATS:
        return f"{columns} elements in a partition, at most {BN_STATS}; combine parts with nisa.bn_aggr"
    if call.member in ("max8", "nc_find_index8", "nc_match_replace8") and not SEARCH[0] <= columns <= SEARCH[1]:
        return f"{columns} elements in a partition, it takes {SEARCH[0]} to {SEARCH[1]}"
    return ""


RULE = Rule("KN147", "instruction-limits", "warn", check, __doc__)
