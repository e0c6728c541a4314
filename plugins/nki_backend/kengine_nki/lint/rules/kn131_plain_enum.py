"""A number or string where an enumeration is expected.

What it does:
Looks at `engine`, `reduce_cmd`, `dge_mode`, `oob_mode`, `perf_mode` and `dma_engine` of instructions of the standalone
package.

Why is this bad:
Since release 0.3 only members of the enumerations are taken.

Example:
    nisa.tensor_copy(dst=y, src=x, engine="vector")

Use instead:
    nisa.tensor_copy(dst=y, src=x, engine=nisa.engine.vector)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_nki.lint.api import class_members
from kengine_nki.lint.calls import find_calls

_CLASSES = {"engine": "engine", "reduce_cmd": "reduce_cmd", "dge_mode": "dge_mode", "oob_mode": "oob_mode",
            "perf_mode": "matmul_perf_mode", "dma_engine": "dma_engine"}  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at constants."""
    for call in find_calls(source):
        if not (call.is_new and call.is_isa and call.signature is not None):
            continue
        for name, kind in _CLASSES.items():
            value = call.arguments.get(name) if name in call.signature.names else None
            if isinstance(value, ast.Constant) and value.value is not None:
                known = class_members("new", "isa", kind)
                meant = f"nisa.{kind}.{value.value}" if value.value in known else f"one of {', '.join(known)}"
                yield hit(value, f"{name}={value.value!r} is no member of nisa.{kind}; write {meant}")


RULE = Rule("KN131", "plain-enum", "warn", check, __doc__)
