"""A sum over a loop that is kept in 16 bits.

What it does:
Finds variables of type half or bfloat16 that a loop adds to.

Why is this bad:
Eleven (or eight) binary digits are used up after some hundred terms; the judge's tolerance knows how good an honest
sum is.

Example:
    __half sum = __float2half(0.0f);
    for (int i = 0; i < n; ++i) sum = __hadd(sum, x[i]);

Use instead:
    float sum = 0.0f;
    for (int i = 0; i < n; ++i) sum += __half2float(x[i]);
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree

from kengine_hip.lint.text import find_texts

_SMALL = re.compile(r"\b(?:__half|half|_Float16|__hip_bfloat16|hip_bfloat16|__bf16)\s+(\w+)\s*(?:=|\()")
_LOOP = re.compile(r"\b(?:for|while)\s*\(")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for additions to such a variable behind a loop that follows its definition."""
    for text in find_texts(source):
        for kernel in text.kernels:
            body = text.code[kernel.body_start : kernel.body_end]
            for match in _SMALL.finditer(body):
                name, behind = re.escape(match.group(1)), body[match.end() :]
                loop = _LOOP.search(behind)
                # Defined in a loop of its own, it is new in every turn.
                if loop is None or behind[: loop.start()].count("}") > behind[: loop.start()].count("{"):
                    continue
                added = re.search(rf"\b{name}\s*(?:\+=|=\s*(?:__hadd|__hfma)\s*\([^;]*\b{name}\b|=\s*{name}\s*\+)",
                                  behind[loop.start() :])  # fmt: skip
                if added:
                    at = kernel.body_start + match.end() + loop.start() + added.start()
                    yield Hit(text.line(at), f"{match.group(1)!r} adds up in 16 bits")


RULE = Rule("KH103", "half-accumulator", "warn", check, __doc__, languages=("python", "hip"))
