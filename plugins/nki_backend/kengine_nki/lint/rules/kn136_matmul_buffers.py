"""A matmul between the wrong memories.

What it does:
Looks at the memories of `nisa.nc_matmul`'s operands.

Why is this bad:
The tensor engine reads both operands from SBUF and writes to PSUM, and nothing else.

Example:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.nc_matmul(dst=acc, stationary=w, moving=x)

Use instead:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=w, moving=x)
    nisa.tensor_copy(dst=y, src=acc)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import find_tiles

_HOW = {"psum": "copy it to SBUF with nisa.tensor_copy", "hbm": "bring it to SBUF first"}


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at memories."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        if call.member not in ("nc_matmul", "nc_matmul_mx"):
            continue
        dst = tiles.operand(call, "dst") if call.is_new else None
        if dst is not None and dst.memory and dst.memory != "psum":
            yield hit(call.node, f"{call.name.short} writes to PSUM, dst lies in {dst.memory}; allocate it in nl.psum")
        for name in ("stationary", "moving"):
            tile = tiles.operand(call, name)
            if tile is not None and tile.memory and tile.memory != "sbuf":
                how = _HOW["psum" if tile.memory == "psum" else "hbm"]
                yield hit(call.node, f"{call.name.short} reads {name} from SBUF, it lies in {tile.memory}; {how}")


RULE = Rule("KN136", "matmul-buffers", "warn", check, __doc__)
