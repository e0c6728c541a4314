"""A name that the NKI module does not have.

What it does:
Compares names of `nki.isa`, `nki.language` and of their enumerations with the official list of the generation
that the file imports, and offers the nearest ones.

Why is this bad:
Python stops there with an AttributeError. The interpreter knows the standalone package up to release 0.6, and the old
one as of SDK 2.26.

Example:
    nisa.tensor_multiply(dst=y, data1=a, data2=b)

Use instead:
    nisa.tensor_tensor(dst=y, data1=a, data2=b, op=nl.multiply)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import NEWER, Name, class_members, members, split, suggest
from kengine_nki.lint.history import belongs_to_other, is_removed

_EXTRA = {"isa": ("NKIObject",), "language": ("tensor",)}
_INSTEAD = {
    "nl.cast": "nisa.tensor_copy into a tile of the other type casts",
    "nl.range": "Python's own range",
    "nl.bool": "nl.bool_",
    "nl.pi": "math.pi",
    "nisa.tensor_add": "nisa.tensor_tensor with op=nl.add",
    "nisa.tensor_mul": "nisa.tensor_tensor with op=nl.multiply",
    "nisa.rsqrt": "nisa.activation with op=nl.rsqrt",
    "nisa.exp": "nisa.activation with op=nl.exp",
    "nisa.load": "nisa.dma_copy",
    "nisa.store": "nisa.dma_copy",
    "nisa.matmul": "nisa.nc_matmul",
    "nisa.transpose": "nisa.nc_transpose",
    "nki.kernel": "nki.jit",
    "nki.compile": "nki.jit",
    "nki.function": "nki.jit",
}
"""What is meant, for inventions that no spelling leads to."""


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at references and at `from nki.isa import ...`."""
    for node, dotted in source.references():
        if isinstance(node, ast.Call):
            continue  # getattr with a default asks whether the name is there
        name = split(dotted)
        problem = _problem(name) if name is not None and dotted not in NEWER else ""
        if problem:
            yield hit(node, problem)
    for statement in source.find(ast.ImportFrom):
        for alias in statement.names if statement.level == 0 else ():
            dotted = f"{statement.module}.{alias.name}"
            name = split(dotted)
            problem = _problem(name) if name is not None and alias.name != "*" and dotted not in NEWER else ""
            if problem:
                yield hit(statement, problem)


def _problem(name: Name) -> str:
    head, _, rest = name.member.partition(".")
    if is_removed(name.generation, name.module, head) or belongs_to_other(name.generation, name.module, head):
        return ""
    known = members(name.generation, name.module) if name.module else ()
    if head.startswith("_") or (not name.module and name.short not in _INSTEAD):
        return ""
    if head not in (*known, *_EXTRA.get(name.module, ())):
        short = Name(name.generation, name.module, head).short
        meant = f"; use {_INSTEAD[short]}" if short in _INSTEAD else suggest(head, known)
        return f"{short} does not exist{meant}"
    of_class = class_members(name.generation, name.module, head) if name.module else ()
    last = rest.partition(".")[0]
    if last and of_class and head not in ("NkiTensor", "NkiInstruction") and last not in of_class:
        if last.startswith("__") or last in ("name", "value"):
            return ""
        short = Name(name.generation, name.module, head).short
        return f"{short} has no member {last}{suggest(last, of_class, '; it has ' + ', '.join(of_class))}"
    return ""


RULE = Rule("KN113", "unknown-name", "warn", check, __doc__)
