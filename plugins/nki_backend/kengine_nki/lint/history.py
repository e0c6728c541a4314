"""What changed between releases: names and arguments that are gone, and names that only the other generation has."""

from __future__ import annotations

from kengine_nki.lint.api import load

REMOVED = {
    "tensor_copy_dynamic_src": "nisa.tensor_copy from `tile.ap(..., scalar_offset=register)`",
    "tensor_copy_dynamic_dst": "nisa.tensor_copy to `tile.ap(..., scalar_offset=register)`",
}
"""Functions of nki.isa that release 0.3 dropped, and what replaces them."""

REMOVED_ARGUMENTS = {
    ("dma_copy", "dst_rmw_op"): "accumulate with nisa.dma_compute(dst, srcs, reduce_op)",
    ("dma_copy", "unique_indices"): "nisa.dma_compute takes it",
    ("register_move", "imm"): "pass the number as `src`",
    ("shared_constant", "dtype"): "give the constant its type in numpy",
}
"""(function, argument) of the standalone package that a release dropped, and what replaces it."""

REMOVED_EVERYWHERE = {"num_channels": "leave it out", "precise_schedule": "leave it out"}
"""Arguments that every function lost."""

OLD_NAMES = {
    "arange": "slices such as `x[0:128, :]` or nl.ds(start, size)",
    "mgrid": "slices such as `x[0:128, :]`",
    "par_dim": "tiles whose first axis is the partition axis, in a Python list for more of them",
    "loop_reduce": "nisa.tensor_reduce, or an accumulating tile",
    "static_cast": "nisa.tensor_copy into a tile of the other type",
    "atomic_rmw": "nisa.dma_compute",
    "finfo": "a number written out",
    "fp32": "a number written out, -3.4028235e38 for the least float32",
    "bfp16": "a number written out",
    "gemm_grid": "slices",
    "gemm_stationary_grid": "slices",
}
"""Names of neuronxcc.nki that the standalone package lacks, and what replaces them."""

_PACKAGE = {
    "new": frozenset({"simulate_kernel", "baremetal", "benchmark", "profile", "trace"}),
    "old": frozenset({"simulate", "collectives"}),
}


def is_removed(generation: str, module: str, member: str) -> bool:
    """Whether a name of the standalone package existed in an earlier release."""
    return generation == "new" and module == "isa" and member in REMOVED


def belongs_to_other(generation: str, module: str, member: str) -> bool:
    """Whether only the other generation has a name."""
    other = "old" if generation == "new" else "new"
    if not module:
        return member in _PACKAGE[generation]
    table = load()
    return member not in table[generation][module] and member in table[other][module]
