"""A function or argument that a release of the standalone package dropped.

What it does:
Finds `tensor_copy_dynamic_src` and `_dst`, `dma_copy(dst_rmw_op=, unique_indices=)`, `register_move(imm=)`,
`shared_constant(dtype=)`, `num_channels=`, `precise_schedule=`, and `affine_select` with its arguments in the order
that ended with release 0.3.

Why is this bad:
Release 0.3 and later stop with an error there, or read the arguments wrongly.

Example:
    nisa.dma_copy(dst=y, src=x, dst_rmw_op=nl.add)

Use instead:
    nisa.dma_compute(dst=y, srcs=[y, x], reduce_op=nl.add)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import split
from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.history import REMOVED, REMOVED_ARGUMENTS, REMOVED_EVERYWHERE, is_removed
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names and keywords."""
    for node, dotted in source.references():
        name = split(dotted)
        if name is not None and is_removed(name.generation, name.module, name.member):
            yield hit(node, f"{name.short} was removed in NKI 0.3; use {REMOVED[name.member]}")
    integers = find_tiles(source).integers
    for call in find_calls(source):
        if not call.is_new or call.signature is None:
            continue
        for keyword in call.node.keywords:
            word = keyword.arg or ""
            instead = REMOVED_ARGUMENTS.get((call.member, word)) or REMOVED_EVERYWHERE.get(word)
            if instead is not None and word not in call.signature.names:
                yield hit(keyword.value, f"{call.name.short}({word}=) was removed; {instead}")
        given = call.node.args if call.member == "affine_select" else []
        if len(given) >= 5 and integers.integer(given[3]) is not None:
            yield hit(
                call.node,
                "nisa.affine_select takes (dst, pattern, channel_multiplier, on_true_tile, on_false_value, cmp_op, "
                "offset) since NKI 0.3; pass the arguments by keyword",
            )


RULE = Rule("KN116", "removed-name", "warn", check, __doc__)
