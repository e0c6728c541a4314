"""Something of the old generation in a kernel of the standalone package.

What it does:
Finds `nl.arange`, `nl.mgrid`, `nl.par_dim`, `nl.loop_reduce` and other names that only `neuronxcc.nki` has, `mask=` on
any function, and `dtype=` on instructions.

Why is this bad:
The standalone package has none of these: indices are slices, the ends of a tensor are handled by slicing to the true
size, and the type of a result is that of `dst`.

Example:
    i_p = nl.arange(128)[:, None]
    nisa.activation(dst=y, op=nl.exp, data=x, mask=(i_p < n))

Use instead:
    rows = min(128, n - i * 128)
    nisa.activation(dst=y[0:rows, :], op=nl.exp, data=x[0:rows, :])
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import Name, split
from kengine_nki.lint.calls import find_calls
from kengine_nki.lint.history import OLD_NAMES, belongs_to_other


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names and keywords."""
    for node, dotted in source.references():
        name = split(dotted)
        if name is None or name.generation != "new" or not name.module:
            continue
        head = name.member.partition(".")[0]
        if belongs_to_other("new", name.module, head):
            short = Name("new", name.module, head).short
            instead = f"; use {OLD_NAMES[head]}" if head in OLD_NAMES else ""
            yield hit(node, f"{short} belongs to neuronxcc.nki, the standalone `nki` does not have it{instead}")
    for call in find_calls(source):
        if not call.is_new or call.signature is None:
            continue
        for keyword in call.node.keywords:
            if keyword.arg in call.signature.names:
                continue
            if keyword.arg == "mask":
                yield hit(
                    keyword.value,
                    f"{call.name.short}() takes no mask in the standalone `nki`; slice tiles and tensors to the true "
                    "size, min(128, n - i * 128) rows",
                )
            elif keyword.arg == "dtype" and call.is_isa:
                yield hit(
                    keyword.value,
                    f"{call.name.short}() takes no dtype in the standalone `nki`; the result has the type of dst",
                )


RULE = Rule("KN117", "old-form", "warn", check, __doc__)
