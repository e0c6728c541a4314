"""A data type that the hardware does not have.

What it does:
Finds `float64`, `int64`, `complex64` and their like as `dtype` of tiles and tensors.

Why is this bad:
The allocation is refused: the widest types are float32 and int32.

Example:
    y = nl.ndarray((128, 512), dtype=np.float64, buffer=nl.sbuf)

Use instead:
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls

_WIDE = {
    "float64": "float32", "double": "float32", "int64": "int32", "uint64": "uint32", "long": "int32",
    "complex64": "float32", "complex128": "float32", "longdouble": "float32", "object_": "float32",
}  # fmt: skip
_HOLDERS = ("numpy.", "torch.", "jax.numpy.", "builtins.")
_PYTHON = {"builtins.float": "float32", "builtins.int": "int32", "builtins.complex": "float32"}


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at `dtype`."""
    for call in find_calls(source):
        value = call.get("dtype")
        if value is None:
            continue
        text = value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""
        names = {text} if text else source.resolve(value)
        for name in sorted(names):
            last = name.rpartition(".")[2]
            meant = _PYTHON.get(name) or (_WIDE.get(last) if text or name.startswith(_HOLDERS) else None)
            if meant is not None and (call.is_new or last in _WIDE):
                yield hit(value, f"{name} is no type of the hardware; use nl.{meant}")


RULE = Rule("KN149", "unknown-dtype", "warn", check, __doc__)
