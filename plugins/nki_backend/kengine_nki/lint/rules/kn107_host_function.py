"""A function of numpy, torch or math is called on a tile inside of a kernel.

What it does:
Finds calls of these libraries in kernels whose arguments hold a tile or a part of a tensor. Constants made with numpy
(`np.eye(128)`) and sizes (`math.ceil(n / 128)`) are not meant, and numpy functions as operators of the old generation
neither.

Why is this bad:
A tile holds no values while the kernel is traced; the call fails, or computes nothing on the device.

Example:
    y = np.exp(tile)

Use instead:
    nisa.activation(dst=y, op=nl.exp, data=tile)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.kernels import device_nodes
from kengine_nki.lint.tiles import find_tiles

_LIBRARIES = ("numpy.", "torch.", "math.", "scipy.", "jax.")
_MAKERS = ("zeros_like", "dtype", "shape", "ndim", "result_type", "finfo", "iinfo", "issubdtype")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls in device functions."""
    tiles, inside = find_tiles(source), device_nodes(source)
    for node, names in source.calls():
        found = sorted(n for n in names if n.startswith(_LIBRARIES) and n.rpartition(".")[2] not in _MAKERS)
        if node not in inside or not found:
            continue
        for argument in (*node.args, *(k.value for k in node.keywords)):
            tile = tiles.of(argument)
            if tile is not None and not tile.parameter:
                yield hit(
                    node, f"{found[0]} cannot read a tile; use an instruction of nki.isa or a function of nki.language"
                )
                break


RULE = Rule("KN107", "host-function", "warn", check, __doc__)
