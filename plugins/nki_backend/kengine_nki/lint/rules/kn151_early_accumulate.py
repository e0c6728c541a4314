"""A matmul adds to PSUM that nothing has written.

What it does:
Finds `accumulate=True` on a PSUM tile to which nothing else in the function writes.

Why is this bad:
The first matmul then adds to whatever lay there. Without `accumulate` the first one overwrites and later ones add.

Example:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    for k in range(4):
        nisa.nc_matmul(dst=acc, stationary=w[k], moving=x[k], accumulate=True)

Use instead:
    for k in range(4):
        nisa.nc_matmul(dst=acc, stationary=w[k], moving=x[k])
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.tiles import find_tiles
from kengine_nki.lint.writes import root


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at matmuls that always accumulate."""
    tiles = find_tiles(source)
    known = find_calls(source)
    written: set[tuple[ast.AST | None, str]] = _passed_on(source, {c.node for c in known if c.signature is not None})
    for call in known:
        target = root(call.get("dst"))
        if target is not None and not _accumulates(call):
            written.add((source.function_of(call.node), target.id))
    for call in known:
        name = root(call.get("dst")) if _accumulates(call) else None
        tile = tiles.of(name)
        if name is None or tile is None or tile.memory != "psum" or tile.made is None:
            continue
        if (source.function_of(call.node), name.id) not in written:
            yield hit(
                call.node,
                f"accumulate=True adds to {name.id!r} in PSUM, which nothing has written; leave accumulate out",
            )


def _passed_on(source: SourceTree, known: set[ast.Call]) -> set[tuple[ast.AST | None, str]]:
    """Names that are arguments of anything but an instruction, which may write to them, by function."""
    found: set[tuple[ast.AST | None, str]] = set()
    for node in source.find(ast.Call):
        if node not in known:
            arguments = (*node.args, *(k.value for k in node.keywords))
            names = {n.id for a in arguments for n in ast.walk(a) if isinstance(n, ast.Name)}
            found |= {(source.function_of(node), name) for name in names}
    return found


def _accumulates(call: ApiCall) -> bool:
    flag = call.get("accumulate")
    return call.is_new and call.member == "nc_matmul" and isinstance(flag, ast.Constant) and flag.value is True


RULE = Rule("KN151", "early-accumulate", "warn", check, __doc__)
