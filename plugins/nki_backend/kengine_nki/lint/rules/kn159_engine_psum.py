"""An engine reaches for PSUM where it cannot.

What it does:
Finds PSUM operands of instructions with `engine=nisa.engine.gpsimd`, of `nl.power`, and `tensor_tensor` with both
inputs in PSUM (up to trn2).

Why is this bad:
GpSimd is not connected to PSUM, and one instruction reads one operand from PSUM.

Example:
    nisa.tensor_tensor(dst=y, data1=a_psum, data2=b_psum, op=nl.add)

Use instead:
    nisa.tensor_copy(dst=a, src=a_psum)
    nisa.tensor_tensor(dst=y, data1=a, data2=b_psum, op=nl.add)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.limits import chip_of
from kengine_nki.lint.tiles import find_tiles, is_nki


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at memories of operands."""
    tiles, chip = find_tiles(source), chip_of(context.target)
    for call in find_calls(source):
        if not (call.is_isa and call.is_new):
            continue
        inside = [
            name
            for name in ("dst", "data", "src", "data1", "data2", "data0")
            if (tile := tiles.operand(call, name)) is not None and tile.memory == "psum"
        ]
        engine, op = call.get("engine"), call.get("op", "op0")
        gpsimd = engine is not None and is_nki(source, engine, "nisa.engine.gpsimd", "nisa.gpsimd_engine")
        power = call.member == "tensor_tensor" and op is not None and is_nki(source, op, "nl.power")
        if inside and (gpsimd or power):
            why = "the GpSimd engine" if gpsimd else "nl.power runs on the GpSimd engine, which"
            yield hit(call.node, f"{why} cannot reach PSUM, where {inside[0]} lies; copy it to SBUF first")
        elif {"data1", "data2"} <= set(inside) and call.member == "tensor_tensor" and chip.generation < 4:
            yield hit(
                call.node, "data1 and data2 both lie in PSUM; copy one of them to SBUF with nisa.tensor_copy first"
            )


RULE = Rule("KN159", "engine-psum", "warn", check, __doc__)
