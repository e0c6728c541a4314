"""A tile that does not fit its memory.

What it does:
Evaluates the bytes that a tile takes in each partition: 16 KiB in PSUM, 2 KiB (one bank) for the result of a matmul,
192, 224 or 256 KiB in SBUF on trn1, trn2 and trn3.

Why is this bad:
The allocation is refused. All tiles that live at the same time share the memory, so much smaller ones are needed.

Example:
    acc = nl.ndarray((128, 1024), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=w, moving=x)

Use instead:
    acc = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.psum)
    nisa.nc_matmul(dst=acc, stationary=w, moving=x[:, 0:512])
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.limits import PSUM_BANK_BYTES, PSUM_BYTES, chip_of
from kengine_nki.lint.tiles import find_tiles


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at allocations and at results of matmuls."""
    tiles, chip = find_tiles(source), chip_of(context.target)
    for call in find_calls(source):
        if call.member == "nc_matmul" and call.is_new:
            dst = tiles.operand(call, "dst")
            size = dst.bytes_per_partition if dst is not None and dst.memory == "psum" else None
            if size is not None and size > PSUM_BANK_BYTES and chip.generation < 4:
                yield hit(
                    call.node,
                    f"the result takes {size} bytes of a partition, a PSUM bank has {PSUM_BANK_BYTES}: at most 512 "
                    "float32 columns",
                )
            continue
        tile = tiles.of(call.node)
        if tile is None or tile.made is not call.node or tile.bytes_per_partition is None:
            continue
        limit = {"psum": PSUM_BYTES, "sbuf": chip.sbuf_bytes}.get(tile.memory)
        if limit is not None and tile.bytes_per_partition > limit:
            yield hit(
                call.node,
                f"the tile takes {tile.bytes_per_partition} bytes of a partition, {tile.memory} has {limit} on "
                f"{chip.name}; use smaller tiles",
            )


RULE = Rule("KN143", "memory-capacity", "warn", check, __doc__)
