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
from kengine_nki.lint.tiles import find_tiles
from kengine_nki.lint.writes import root

_ACCUMULATING = ("nc_matmul", "nc_matmul_mx")
_AFFINE = frozenset({"nki.language.affine_range", "neuronxcc.nki.language.affine_range"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at updates inside of loops."""
    loops = _Loops(source)
    for node, target in loops.updates:
        name = root(target)
        tile = loops.tiles.of(name)
        if name is None or tile is None or tile.made is None or not tile.on_chip:
            continue
        if tile.memory == "psum" and not isinstance(node, ast.Call):
            continue
        loop = loops.carrying(node, target, name.id, tile.made)
        if loop is not None:
            yield hit(
                node,
                f"{name.id!r} is carried from one iteration of affine_range (line {loop.lineno}) to the next; use "
                "nl.sequential_range",
            )


class _Loops:
    """Loops of a file, what is updated in them and what is written anew."""

    def __init__(self, source: SourceTree) -> None:
        self.source = source
        self.tiles = find_tiles(source)
        self.updates: list[tuple[ast.AST, ast.expr]] = []
        self.started: set[tuple[ast.For, str]] = set()
        self.assigned: dict[ast.For, set[str]] = {}
        calls = {c.node: c for c in find_calls(source)}
        for node in source.live:
            if isinstance(node, ast.Call) and node in calls:
                accumulates = calls[node].member in _ACCUMULATING
                self._note(node, _updated(calls[node]), None if accumulates else calls[node].get("dst"))
            elif isinstance(node, ast.AugAssign):
                self._note(node, node.target, None)
            elif isinstance(node, ast.Assign):
                target = node.targets[0]
                self._note(node, _assigned(node), target if isinstance(target, ast.Subscript) else None)
                for loop in self._around(node):
                    names = (t.id for t in node.targets if isinstance(t, ast.Name))
                    self.assigned.setdefault(loop, set()).update(names)

    def carrying(self, node: ast.AST, target: ast.expr, name: str, made: ast.AST) -> ast.For | None:
        """The innermost affine_range around an update that carries the tile, which `made` allocates, on."""
        indices = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        holding = set(self._around(made))
        for loop in self._around(node):
            if loop in holding or (loop, name) in self.started:
                return None
            variable = loop.target.id if isinstance(loop.target, ast.Name) else ""
            depends = variable in indices or indices & self.assigned.get(loop, set())
            if variable and not depends and self._is_affine(loop):
                return loop
        return None

    def _note(self, node: ast.AST, update: ast.expr | None, fresh: ast.expr | None) -> None:
        if update is not None:
            self.updates.append((node, update))
            return
        name = root(fresh)
        if name is not None:
            self.started.update((loop, name.id) for loop in self._around(node))

    def _around(self, node: ast.AST) -> Iterator[ast.For]:
        at = self.source.parents.get(node)
        while at is not None and not isinstance(at, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            if isinstance(at, ast.For):
                yield at
            at = self.source.parents.get(at)

    def _is_affine(self, loop: ast.For) -> bool:
        call = loop.iter
        if not isinstance(call, ast.Call) or not self.source.resolve(call.func) & _AFFINE:
            return False
        return not (len(call.args) == 1 and self.tiles.integers.integer(call.args[0]) in (0, 1))


def _updated(call: ApiCall) -> ast.expr | None:
    """`dst` of an instruction that reads the same tile."""
    dst = call.get("dst") if call.is_isa and call.member not in _ACCUMULATING else None
    name = root(dst)
    if name is None:
        return None
    others = [v for k, v in call.arguments.items() if k not in ("dst", "reduce_res")]
    same = any(isinstance(n, ast.Name) and n.id == name.id for v in others for n in ast.walk(v))
    return dst if same else None


def _assigned(node: ast.Assign) -> ast.expr | None:
    """The target of `tile[...] = tile + value`."""
    target = node.targets[0]
    name = root(target) if isinstance(target, ast.Subscript) else None
    if name is None:
        return None
    return target if any(isinstance(n, ast.Name) and n.id == name.id for n in ast.walk(node.value)) else None


RULE = Rule("KN156", "carried-loop", "warn", check, __doc__)
