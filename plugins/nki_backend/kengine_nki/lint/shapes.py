"""Shapes of what an index selects."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.source import SourceTree

from kengine_nki.lint.integers import Integers

Shape = tuple["int | None", ...]
_RANGES = frozenset({"builtins.range"})


def elements(index: ast.expr) -> list[ast.expr]:
    """The parts of an index, one for each axis."""
    return list(index.elts) if isinstance(index, ast.Tuple) else [index]


def index_shape(
    source: SourceTree, numbers: Integers, shape: Shape | None, index: ast.expr, on_chip: bool
) -> Shape | None:
    """Sizes of `x[index]`; None when an axis is picked by something of which the text does not tell what it is.

    On chip an integer keeps the partition axis with size 1, and a result has two axes at least; in device memory an
    integer drops its axis. Without a shape of `x`, an index that has a slice for every axis is not told from one that
    has not, so the result is unknown as well.
    """
    if shape is None:
        return None
    parts = elements(index)
    if len(parts) > len(shape) or any(isinstance(p, ast.Constant) and not isinstance(p.value, int) for p in parts):
        return None
    found: list[int | None] = []
    for axis, size in enumerate(shape):
        part = parts[axis] if axis < len(parts) else None
        if part is None:
            found.append(size)
            continue
        if isinstance(part, ast.Slice):
            found.append(slice_size(numbers, part, size))
        elif is_ds(source, part):
            assert isinstance(part, ast.Call)
            found.append(numbers.integer(ds_argument(part, 1, "size")))
        elif is_number(source, numbers, part):
            if on_chip and axis == 0:
                found.append(1)
        else:
            return None
    while on_chip and len(found) < 2:
        found.append(1)
    return tuple(found)


def slice_size(numbers: Integers, part: ast.Slice, size: int | None) -> int | None:
    """Number of elements of a slice, not clamped at the size of the axis."""
    step = 1 if part.step is None else numbers.integer(part.step)
    if step is None or step < 1:
        return None
    if part.lower is None and part.upper is None:
        extent = size
    elif part.upper is None:
        low = numbers.integer(part.lower)
        extent = size - low if size is not None and low is not None and low >= 0 else None
    elif part.lower is None:
        extent = numbers.integer(part.upper)
    else:
        extent = numbers.difference(part.upper, part.lower)
    return -(-extent // step) if extent is not None and extent > 0 else None


def is_ds(source: SourceTree, node: ast.expr) -> bool:
    """Whether an expression is `nl.ds(start, size)`."""
    return isinstance(node, ast.Call) and any(n.endswith("nki.language.ds") for n in source.resolve(node.func))


def ds_argument(node: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument of `nl.ds`."""
    if len(node.args) > position:
        return node.args[position]
    return next((k.value for k in node.keywords if k.arg == name), None)


def is_number(source: SourceTree, numbers: Integers, node: ast.expr, depth: int = 0) -> bool:
    """Whether an index is certainly one integer: a constant, a loop variable, or arithmetic on these."""
    if numbers.integer(node) is not None:
        return True
    if isinstance(node, ast.BinOp) and depth < 8:
        return all(is_number(source, numbers, side, depth + 1) for side in (node.left, node.right))
    if isinstance(node, ast.Name):
        found = source.scopes.lookup(node.id, node)
        return 0 < len(found) <= 32 and all(
            b.kind == "item" and isinstance(b.node, ast.Call) and any(_are_ranges(source, b.node)) for b in found
        )
    return False


def _are_ranges(source: SourceTree, call: ast.Call) -> Iterator[bool]:
    for name in source.resolve(call.func):
        if name in _RANGES or (name.startswith(("nki.", "neuronxcc.nki.")) and name.endswith("_range")):
            yield True
