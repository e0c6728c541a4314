"""A copy between tensors of different sizes.

What it does:
Compares the number of elements of `dst` and `src` in `nisa.dma_copy` and `nisa.tensor_copy`, where both shapes are
known.

Why is this bad:
The instruction is refused; nothing is broadcast or cut off.

Example:
    x = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.tensor_copy(dst=x, src=y[:, 0:256])

Use instead:
    nisa.tensor_copy(dst=x[:, 0:256], src=y[:, 0:256])
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Compare counts."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        if call.member not in ("dma_copy", "tensor_copy") or not call.is_isa:
            continue
        dst, src = tiles.operand(call, "dst"), tiles.operand(call, "src")
        if dst is None or src is None or dst.count is None or src.count is None or dst.count == src.count:
            continue
        yield hit(
            call.node,
            f"{call.name.short} copies {src.count} elements {_shape(src.shape)} to {dst.count} {_shape(dst.shape)}; "
            "slice both to the same size",
        )


def _shape(shape: object) -> str:
    return str(shape).replace(" ", "").replace(",", ", ")


RULE = Rule("KN138", "element-counts", "warn", check, __doc__)
