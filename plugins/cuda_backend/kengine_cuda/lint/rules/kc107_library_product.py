"""A library's product is the answer's work.

What it does:
Finds products of CuPy (`matmul`, `dot`, `einsum`, `tensordot`, `inner`, `outer`, `linalg`) that the entry may reach.
Products of ATen and cuBLAS in C++ sources are found by KE401 and KE402.

Why is this bad:
The library's kernel does the work that the candidate's kernel was asked for. A task that wants it says so in `allow`.

Example:
    def candidate(a, b):
        return torch.from_dlpack(cupy.matmul(cupy.from_dlpack(a), cupy.from_dlpack(b)))

Use instead:
    A kernel that multiplies tiles in shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_PRODUCTS = ("matmul", "dot", "einsum", "tensordot", "inner", "outer", "vdot", "kron")
_NAMES = frozenset(f"cupy.{name}" for name in _PRODUCTS)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what the entry reaches, and at C++ sources."""
    for node, name in source.references():
        if node in source.reached and (name in _NAMES or name.startswith("cupy.linalg.")) and not context.allows(name):
            yield hit(node, f"{name} computes a product in the place of a kernel")


RULE = Rule("KC107", "library-product", "reject", check, __doc__)
