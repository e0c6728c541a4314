"""An instruction that only a newer chip has.

What it does:
Finds `activate2`, `exponential`, `nc_matmul_mx`, `quantize_mx`, `rand2`, `tensor.indirect(...)` and `priority=` of DMAs
when the target is not trn3, and `perf_mode` on trn1. `nki:sim` stands for trn2.

Why is this bad:
The instruction is refused on this target.

Example:
    nisa.exponential(dst=y, src=x)  # with --target nki:trn2

Use instead:
    nisa.activation(dst=y, op=nl.exp, data=x)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.limits import chip_of
from kengine_nki.lint.tiles import find_tiles

_TRN3 = frozenset({"activate2", "exponential", "nc_matmul_mx", "quantize_mx", "rand2"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at instructions."""
    chip = chip_of(context.target)
    if chip.generation >= 4 or _asks_for_chip(source):
        return
    for call in find_calls(source):
        if not (call.is_new and call.is_isa):
            continue
        if call.member in _TRN3:
            yield hit(call.node, f"{call.name.short} needs trn3, the target is {chip.name}")
        priority, mode = call.get("priority"), call.get("perf_mode")
        if priority is not None and not (isinstance(priority, ast.Constant) and priority.value is None):
            yield hit(call.node, f"{call.name.short}(priority=) needs trn3, the target is {chip.name}; leave it out")
        if mode is not None and chip.generation < 3 and any(n.endswith("double_row") for n in source.resolve(mode)):
            yield hit(call.node, f"{call.name.short}(perf_mode=) needs trn2 or trn3, the target is {chip.name}")
    tiles, inside = find_tiles(source), device_nodes(source)
    for node in source.find(ast.Call):
        named = isinstance(node.func, ast.Attribute) and node.func.attr == "indirect" and node in inside
        if named and isinstance(node.func, ast.Attribute) and tiles.of(node.func.value) is not None:
            yield hit(node, f"indirect() needs trn3, the target is {chip.name}; use .ap(vector_offset=)")


def _asks_for_chip(source: SourceTree) -> bool:
    """Whether the file chooses by the chip, so that the instruction may be guarded."""
    return any(c.member == "get_nc_version" for c in find_calls(source))


RULE = Rule("KN158", "newer-chip", "warn", check, __doc__)
