"""An instruction works directly on a tensor in device memory.

What it does:
Finds arguments of kernels and other HBM tensors as operands of compute instructions and of elementwise functions.

Why is this bad:
Engines reach SBUF and PSUM only. What lies in HBM is brought in with `nisa.dma_copy` (old: `nl.load`) and brought out
with it (old: `nl.store`).

Example:
    @nki.jit
    def kernel(x):
        nisa.activation(dst=y, op=nl.exp, data=x)

Use instead:
    tile = nl.ndarray((128, 512), dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x[0:128, :])
    nisa.activation(dst=y, op=nl.exp, data=tile)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.tiles import find_tiles

_EXEMPT = frozenset({"dma_copy", "dma_compute", "dma_transpose", "nc_matmul", "nc_matmul_mx", "sendrecv",
                     "core_barrier", "register_load", "register_store", "register_move", "register_alloc"})  # fmt: skip
_OPERANDS = ("dst", "data", "data0", "data1", "data2", "src", "on_true_tile", "predicate", "reduce_res")
_ELEMENTWISE = frozenset({
    "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "gelu", "silu", "square", "reciprocal", "negative", "abs",
    "sum", "max", "min", "mean", "softmax", "softplus", "sin", "cos", "erf",
})  # fmt: skip
_MOVERS = frozenset({"load", "load_transpose2d"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at memories of operands."""
    tiles = find_tiles(source)
    for call in find_calls(source):
        for name in _names(call):
            tile = tiles.operand(call, name)
            if tile is None:
                continue
            if call.member in _MOVERS:
                if tile.on_chip:
                    yield hit(call.node, f"{call.name.short} reads from HBM, {name} lies in {tile.memory} already")
            elif tile.in_hbm:
                bring = "nisa.dma_copy" if call.is_new else "nl.store" if name == "dst" else "nl.load"
                yield hit(call.node, f"{call.name.short} cannot reach {name} in HBM; move it with {bring}")


def _names(call: ApiCall) -> tuple[str, ...]:
    if call.is_isa:
        return () if call.member in _EXEMPT or call.signature is None else _OPERANDS
    if call.member in _ELEMENTWISE:
        return ("x",)
    return ("src",) if call.member in _MOVERS else ()


RULE = Rule("KN145", "hbm-operand", "warn", check, __doc__)
