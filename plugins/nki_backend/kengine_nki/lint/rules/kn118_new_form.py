"""Something of the standalone package in a kernel of the old generation.

What it does:
Finds `dst=` and `accumulate=` on functions of `neuronxcc.nki` that return their result, and names that only the
standalone package has.

Why is this bad:
In the old package most instructions return a new tile and take no `dst`; accumulation in PSUM is written
`psum[...] += nisa.nc_matmul(...)`.

Example:
    nisa.activation(dst=y, op=nl.exp, data=x)

Use instead:
    y = nisa.activation(op=nl.exp, data=x)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import Name, split
from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.history import belongs_to_other


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names and keywords."""
    for node, dotted in source.references():
        name = split(dotted)
        if name is None or name.generation != "old" or not name.module:
            continue
        head = name.member.partition(".")[0]
        if belongs_to_other("old", name.module, head):
            short = Name("old", name.module, head).short
            yield hit(
                node, f"{short} belongs to the standalone `nki`, neuronxcc.nki does not have it; import nki instead"
            )
    for call in find_calls(source):
        if call.is_new or call.signature is None:
            continue
        for keyword in call.node.keywords:
            if keyword.arg in call.signature.names or keyword.arg not in ("dst", "accumulate"):
                continue
            how = (
                f"assign its result, `tile = {call.name.short}(...)`"
                if keyword.arg == "dst"
                else "accumulate with `psum[...] += nisa.nc_matmul(...)`"
            )
            yield hit(keyword.value, f"{call.name.short}() takes no {keyword.arg} in neuronxcc.nki; {how}")


RULE = Rule("KN118", "new-form", "warn", check, __doc__)
