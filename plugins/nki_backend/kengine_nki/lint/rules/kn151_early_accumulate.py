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
from kengine_nki.lint.kernels import Function
from kengine_nki.lint.tiles import find_tiles
from kengine_nki.lint.writes import root


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at matmuls that always accumulate."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        name = root(call.get("dst")) if _accumulates(call) else None
        tile = tiles.of(name)
        function = source.function_of(call.node)
        if (
            name is None
            or tile is None
            or tile.memory != "psum"
            or tile.made is None
            or not isinstance(function, Function)
        ):
            continue
        if not _is_written_otherwise(source, function, name.id):
            yield hit(
                call.node,
                f"accumulate=True adds to {name.id!r} in PSUM, which nothing has written; leave accumulate out",
            )


def _accumulates(call: ApiCall) -> bool:
    flag = call.get("accumulate")
    return call.is_new and call.member == "nc_matmul" and isinstance(flag, ast.Constant) and flag.value is True


def _is_written_otherwise(source: SourceTree, function: ast.AST, name: str) -> bool:
    """Whether the tile is used anywhere but as a result of such matmuls and as an operand that is only read."""
    known = {c.node: c for c in find_calls(source)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Call):
            continue
        call = known.get(node)
        if call is not None and call.signature is not None:
            target = root(call.get("dst"))
            if target is not None and target.id == name and not _accumulates(call):
                return True
        elif any(isinstance(n, ast.Name) and n.id == name for a in node.args for n in ast.walk(a)):
            return True  # a helper may write it
        elif any(isinstance(n, ast.Name) and n.id == name for k in node.keywords for n in ast.walk(k.value)):
            return True
    return False


RULE = Rule("KN151", "early-accumulate", "warn", check, __doc__)
