"""What makes a kernel in a Python candidate, and where the entry may come to it."""

from __future__ import annotations

import ast

from kengine.lint.source import SourceTree

RAW = frozenset({"cupy.RawKernel", "cupy.RawModule"})
GENERATED = frozenset({"cupy.ElementwiseKernel", "cupy.ReductionKernel", "cupy.elementwise", "cupy.fuse"})
BUILT = frozenset({"torch.utils.cpp_extension.load_inline", "torch.utils.cpp_extension.load"})
MAKERS = RAW | GENERATED | BUILT


def made(source: SourceTree, within: str = "live") -> list[ast.Call]:
    """Calls that make kernels or extensions."""
    return [call for call, names in source.calls(within) if names & MAKERS]
