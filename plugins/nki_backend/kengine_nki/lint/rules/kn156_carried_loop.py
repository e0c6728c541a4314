"""An `affine_range` loop whose iterations depend on each other.

What it does:
Finds tiles that are allocated outside of an `nl.affine_range` loop and both read and written by one instruction inside
of it, at a place that does not depend on the loop's variable. Sums in PSUM by `nc_matmul` are not meant.

Why is this bad:
`affine_range` promises that iterations are independent, so the compiler may run them in any order or at once.

Example:
    for i in nl.affine_range(8):
        nisa.tensor_tensor(dst=total, data1=total, data2=part[i], op=nl.add)

Use instead:
    for i in nl.sequential_range(8):
        nisa.tensor_tensor(dst=total, data1=total, data2=part[i], op=nl.add)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.tiles import Tile, Tiles, find_tiles
from kengine_nki.lint.writes import root

_INNER = ("nki.language.affine_range", "neuronxcc.nki.language.affine_range")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at updates inside of loops."""
    tiles = find_tiles(source)
    calls = {c.node: c for c in find_calls(source)}
    for node in source.live:
        target: ast.expr | None = None
        if isinstance(node, ast.Call) and node in calls:
            target = _updated(calls[node])
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            target = _assigned(node)
        name = root(target)
        tile = tiles.of(name)
        if name is None or target is None or tile is None or tile.made is None or not tile.on_chip:
            continue
        if tile.memory == "psum" and not (isinstance(node, ast.Call)):
            continue
        loop = _carrying_loop(source, tiles, node, target, name, tile)
        if loop is not None:
            yield hit(
                node,
                f"{name.id!r} is carried from one iteration of affine_range (line {loop.lineno}) to the next; use "
                "nl.sequential_range",
            )


def _updated(call: ApiCall) -> ast.expr | None:
    """`dst` of an instruction that reads the same tile."""
    dst = call.get("dst") if call.is_isa and call.member not in ("nc_matmul", "nc_matmul_mx") else None
    name = root(dst)
    if name is None:
        return None
    others = [v for k, v in call.arguments.items() if k not in ("dst", "reduce_res")]
    same = any(isinstance(n, ast.Name) and n.id == name.id for v in others for n in ast.walk(v))
    return dst if same else None


def _assigned(node: ast.Assign | ast.AugAssign) -> ast.expr | None:
    """`tile[...] += value` and `tile[...] = tile + value`."""
    if isinstance(node, ast.AugAssign):
        return node.target
    target = node.targets[0]
    name = root(target) if isinstance(target, ast.Subscript) else None
    if name is None:
        return None
    return target if any(isinstance(n, ast.Name) and n.id == name.id for n in ast.walk(node.value)) else None


def _carrying_loop(
    source: SourceTree, tiles: Tiles, node: ast.AST, target: ast.expr, name: ast.Name, tile: Tile
) -> ast.For | None:
    indices = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
    at: ast.AST | None = source.parents.get(node)
    while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)):
        if isinstance(at, ast.For):
            inside = set(ast.walk(at))
            if tile.made in inside or _starts_inside(source, at, node, name.id):
                return None
            loops = isinstance(at.iter, ast.Call) and source.resolve(at.iter.func) & set(_INNER)
            once = isinstance(at.iter, ast.Call) and _runs_once(tiles, at.iter)
            if (
                loops
                and not once
                and isinstance(at.target, ast.Name)
                and not _depends(source, indices, at.target.id, at)
            ):
                return at
        at = source.parents.get(at)
    return None


def _runs_once(tiles: Tiles, call: ast.Call) -> bool:
    return len(call.args) == 1 and tiles.integers.integer(call.args[0]) in (0, 1)


def _depends(source: SourceTree, indices: set[str], variable: str, loop: ast.For) -> bool:
    """Whether one of the index names is the loop's variable or computed from anything inside of the loop."""
    made = {t.id for n in ast.walk(loop) if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)}
    return variable in indices or bool(indices & made)


def _starts_inside(source: SourceTree, loop: ast.For, update: ast.AST, name: str) -> bool:
    """Whether the loop's body writes the tile anew, without reading it, anywhere."""
    calls = {c.node: c for c in find_calls(source)}
    for node in ast.walk(loop):
        if node is update:
            continue
        if isinstance(node, ast.Call) and node in calls:
            target = root(calls[node].get("dst"))
            if target is not None and target.id == name and _updated(calls[node]) is None:
                return True
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            target = root(node.targets[0])
            if target is not None and target.id == name and _assigned(node) is None:
                return True
    return False


RULE = Rule("KN156", "carried-loop", "warn", check, __doc__)
