"""A DMA from or to PSUM.

What it does:
Looks at the memories of `nisa.dma_copy`, `dma_transpose` and `dma_compute` in the standalone package.

Why is this bad:
Since release 0.3 DMA reaches HBM and SBUF only.

Example:
    nisa.dma_copy(dst=out, src=acc)  # acc is in nl.psum

Use instead:
    nisa.tensor_copy(dst=y, src=acc)
    nisa.dma_copy(dst=out, src=y)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at memories."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        if call.is_new and call.member in ("dma_copy", "dma_transpose", "dma_compute"):
            for name in ("dst", "src"):
                tile = tiles.operand(call, name)
                if tile is not None and tile.memory == "psum":
                    yield hit(
                        call.node,
                        f"{call.name.short} cannot reach PSUM, where {name} lies; nisa.tensor_copy it to SBUF",
                    )


RULE = Rule("KN137", "dma-psum", "warn", check, __doc__)
