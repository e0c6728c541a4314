"""PSUM is filled before a matmul accumulates into it.

What it does:
Finds `nisa.memset`, `nl.zeros` and `nl.full` on a PSUM tile that is the result of an `nc_matmul` without
`accumulate=False`, in the standalone package.

Why is this bad:
Up to trn2 filling does not set the accumulate flags: the first matmul may add to what lay there, or not. A fresh PSUM
tile needs no filling, the first matmul overwrites it.

Example:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.memset(dst=acc, value=0.0)
    for k in range(4):
        nisa.nc_matmul(dst=acc, stationary=w[k], moving=x[k])

Use instead:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in range(4):
        nisa.nc_matmul(dst=acc, stationary=w[k], moving=x[k])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.limits import chip_of
from kengine_nki.lint.tiles import find_tiles
from kengine_nki.lint.writes import root


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at tiles that matmuls accumulate into."""
    if chip_of(context.target).generation >= 4:
        return
    tiles = find_tiles(source)
    calls = [c for c in find_calls(source) if c.is_new]
    accumulating = set()
    for call in calls:
        flag = call.get("accumulate")
        if call.member == "nc_matmul" and not (isinstance(flag, ast.Constant) and flag.value is False):
            name = root(call.get("dst"))
            if name is not None:
                accumulating.add((source.function_of(call.node), name.id))
    for call in calls:
        if call.member == "memset":
            name = root(call.get("dst"))
            tile = tiles.of(name)
        elif call.member in ("zeros", "full", "ones"):
            parent = source.parents.get(call.node)
            target = parent.targets[0] if isinstance(parent, ast.Assign) else None
            name, tile = (target if isinstance(target, ast.Name) else None), tiles.of(call.node)
        else:
            continue
        if tile is None or tile.memory != "psum" or name is None:
            continue
        if (source.function_of(call.node), name.id) in accumulating:
            yield hit(
                call.node,
                f"filling {name.id!r} in PSUM before nc_matmul accumulates is undefined up to trn2; leave it out, the "
                "first matmul overwrites",
            )


RULE = Rule("KN150", "psum-memset", "warn", check, __doc__)
