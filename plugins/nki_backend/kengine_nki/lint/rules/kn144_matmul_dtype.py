"""A matmul or transpose whose result has a type that the engine does not write.

What it does:
Looks at the types of results in the standalone package: `nc_matmul` writes float32 (on trn3 bfloat16 too),
`nc_transpose` writes the type that it reads. A float32 operand needs the other one in float32 as well,
and integers are not multiplied at all.

Why is this bad:
The instruction is refused.

Example:
    acc = nl.ndarray((128, 512), dtype=nl.bfloat16, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=w, moving=x)

Use instead:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=w, moving=x)
    nisa.tensor_copy(dst=y, src=acc)  # y is bfloat16
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.limits import chip_of
from kengine_nki.lint.tiles import find_tiles

_WIDE = frozenset({"float32", "tfloat32"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at types."""
    tiles, chip = find_tiles(source), chip_of(context.target)
    written = frozenset({"float32"}) if chip.generation < 4 else frozenset({"float32", "bfloat16"})
    for call in find_calls(source):
        if not (call.is_isa and call.member in ("nc_matmul", "nc_transpose")):
            continue
        dst = tiles.operand(call, "dst")
        kind = dst.dtype if dst is not None and call.is_new else ""
        if call.member == "nc_transpose":
            data = tiles.operand(call, "data")
            if kind and data is not None and data.dtype and data.dtype != kind:
                yield hit(call.node, f"nisa.nc_transpose keeps the type, data is {data.dtype} and dst is {kind}")
            continue
        if kind and kind not in written and call.get("is_transpose") is None:
            yield hit(call.node, f"nisa.nc_matmul writes {' or '.join(sorted(written))} on {chip.name}, dst is {kind}")
        operands = [tiles.operand(call, name) for name in ("stationary", "moving")]
        types = [t.dtype for t in operands if t is not None and t.dtype]
        if any(t.startswith(("int", "uint", "bool")) for t in types):
            yield hit(call.node, f"{call.name.short} multiplies float types only, got {' and '.join(types)}")
        elif len(types) == 2 and len(set(types) & _WIDE) == 1 and not set(types) <= _WIDE and call.is_new:
            yield hit(call.node, f"nisa.nc_matmul takes float32 with float32 only, got {types[0]} and {types[1]}")


RULE = Rule("KN144", "matmul-dtype", "warn", check, __doc__)
