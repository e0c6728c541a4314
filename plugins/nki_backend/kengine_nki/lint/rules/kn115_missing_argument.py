"""A required argument is missing, or there are too many.

What it does:
Compares calls of `nki.isa` and `nki.language` with the official signatures; calls with `*args` or `**kwargs` are left
alone.

Why is this bad:
Python stops there with a TypeError. Most often it is `dst` that is missing: in the standalone package instructions
write into a tile that the kernel has allocated.

Example:
    y = nisa.activation(op=nl.exp, data=x)

Use instead:
    y = nl.ndarray(x.shape, dtype=nl.float32, buffer=nl.sbuf)
    nisa.activation(dst=y, op=nl.exp, data=x)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.calls import find_calls


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at what is given."""
    for call in find_calls(source):
        signature = call.signature
        if signature is None or signature.open or call.spread:
            continue
        given, most = len(call.node.args), len(signature.positional)
        if given > most:
            only = f"; {', '.join(signature.keyword_only[:3])} are given by keyword" if signature.keyword_only else ""
            yield hit(call.node, f"{call.name.short}() takes {most} positional arguments, {given} are given{only}")
            continue
        missing = [name for name in signature.required if name not in call.arguments]
        if missing == ["dst"] and call.is_new:
            yield hit(
                call.node,
                f"{call.name.short}() needs dst: allocate a tile with nl.ndarray and pass it, the instruction writes "
                "into it and returns no tile",
            )
        elif missing:
            yield hit(call.node, f"{call.name.short}() lacks the argument {' and '.join(missing)}")


RULE = Rule("KN115", "missing-argument", "warn", check, __doc__)
