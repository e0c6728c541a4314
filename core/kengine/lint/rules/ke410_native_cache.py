"""C++ code keeps tensors or results from one call to the next.

What it does:
Finds `static` and global variables of host code that hold tensors, tables or device pointers, and remembered
addresses of inputs.

Why is this bad:
A buffer that comes back with other contents gets the old answer. It is a warning: workspaces and plans are kept
honestly, and the judge overwrites buffers between calls.

Example:
    static std::unordered_map<void*, torch::Tensor> results;

Use instead:
    Compute in every call.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_HOLDERS = frozenset(
    {
        "Tensor",
        "map",
        "unordered_map",
        "vector",
        "optional",
        "void",
        "float",
        "half",
        "__half",
        "data_ptr",
        "cudaGraphExec_t",
        "cudaGraph_t",
        "hipGraphExec_t",
        "uintptr_t",
    }
)
_FIXED = frozenset({"const", "constexpr", "inline", "__device__", "__constant__", "__global__", "__host__"})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at declarations that are static or stand outside of functions."""
    for cpp in find_native(source).sources:
        unit = cpp.unit
        for i, token in enumerate(unit.tokens):
            if token.kind != "id" or token.text not in ("static", "thread_local") or (unit.word(i + 1) == token.text):
                continue
            end = i
            while end < min(len(unit.tokens), i + 60) and unit.word(end) not in (";", "=", "(", "{"):
                end += 1
            words = {unit.word(k) for k in range(i, end)}
            pointer = "*" in words or words & {
                "Tensor",
                "map",
                "unordered_map",
                "vector",
                "optional",
                "cudaGraphExec_t",
                "hipGraphExec_t",
                "uintptr_t",
            }
            call = unit.word(end) == "(" and unit.word(unit.match.get(end, end) + 1) in ("{", "->", "const")
            if words & _HOLDERS and pointer and not words & _FIXED and not call:
                yield cpp.hit(i, "keeps data from one call to the next; compute in every call")


RULE = Rule("KE410", "native-cache", "warn", check, __doc__, ALL)
