"""A kernel returns something that is no output tensor.

What it does:
Looks at what kernels return: a tile on chip, a tensor in private HBM, or (standalone package) nothing at all.

Why is this bad:
Outputs are tensors made with `buffer=nl.shared_hbm` in the kernel; everything else is gone when the kernel ends.

Example:
    y = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=y, op=nl.exp, data=tile)
    return y

Use instead:
    out = nl.ndarray((128, 512), dtype=nl.float32, buffer=nl.shared_hbm)
    nisa.activation(dst=y, op=nl.exp, data=tile)
    nisa.dma_copy(dst=out, src=y)
    return out
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.kernels import find_kernels, generation_of, own_nodes, parameters
from kengine_nki.lint.tiles import find_tiles
from kengine_nki.lint.writes import written_names


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at returns of kernels."""
    tiles = find_tiles(source)
    kernels = find_kernels(source)
    inner = {n.func.id for n in kernels.bodies if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    devices = {c.node for c in find_calls(source)}
    live = set(source.live)
    for kernel in kernels.functions:
        nodes = list(own_nodes(kernel))
        if kernel not in live or kernel.name in inner:
            continue  # a kernel that another kernel calls hands tiles back to it
        values = [n.value for n in nodes if isinstance(n, ast.Return) and n.value is not None]
        generation = generation_of(source, kernel)
        for value in values:
            for part in value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]:
                tile = tiles.of(part)
                if tile is None or tile.parameter:
                    continue
                if tile.on_chip:
                    yield hit(
                        part, f"a kernel returns tensors in shared_hbm, this lies in {tile.memory}; copy it out first"
                    )
                elif generation == "new" and tile.made is not None and tile.memory in ("hbm", "private_hbm"):
                    yield hit(part, f"a kernel returns tensors in shared_hbm, this lies in {tile.memory}")
        works = any(n in devices for n in nodes)
        empty = generation == "new" and not values and works
        if empty and not written_names(source, kernel) & set(parameters(kernel)):
            yield hit(kernel, f"kernel {kernel.name!r} returns nothing; return the nl.shared_hbm tensor it writes")


RULE = Rule("KN141", "output-buffer", "warn", check, __doc__)
