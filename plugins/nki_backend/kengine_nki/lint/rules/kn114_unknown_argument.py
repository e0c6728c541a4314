"""An argument that the function does not take.

What it does:
Compares keywords of calls of `nki.isa` and `nki.language` with the official signatures.

Why is this bad:
Python stops there with a TypeError.

Example:
    nisa.tensor_copy(dst=y, source=x)

Use instead:
    nisa.tensor_copy(dst=y, src=x)
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import HINTS, suggest
from kengine_nki.lint.calls import ApiCall, find_calls
from kengine_nki.lint.history import REMOVED_ARGUMENTS, REMOVED_EVERYWHERE

_MEANT = {"out": "dst", "output": "dst", "in_": "src", "input": "src", "x": "data", "lhs": "stationary",
          "rhs": "moving", "operation": "op", "value": "src", "y": "data2"}  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at keywords."""
    for call in find_calls(source):
        if call.signature is None or call.signature.open:
            continue
        for keyword in call.node.keywords:
            if keyword.arg is not None and _is_unknown(call, keyword.arg):
                names = call.signature.names
                meant = _MEANT.get(keyword.arg, "")
                hint = f"; did you mean {meant}?" if meant in names and meant not in call.arguments else suggest(
                    keyword.arg, names, f"; it takes {', '.join(names) or 'none'}"
                )  # fmt: skip
                yield hit(keyword.value, f"{call.name.short}() takes no argument {keyword.arg!r}{hint}")


def _is_unknown(call: ApiCall, keyword: str) -> bool:
    signature = call.signature
    if signature is None or keyword in signature.names or (signature.hints and keyword in HINTS):
        return False
    if call.is_new:
        elsewhere = (call.member, keyword) in REMOVED_ARGUMENTS or keyword in REMOVED_EVERYWHERE
        return not (elsewhere or keyword == "mask" or (keyword == "dtype" and call.is_isa))
    return keyword not in ("dst", "accumulate")


RULE = Rule("KN114", "unknown-argument", "warn", check, __doc__)
