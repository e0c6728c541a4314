"""A sum is accumulated in 16 bits.

What it does:
Finds variables of type half or bfloat16 that a kernel adds to in a loop, by `+=` or by `__hadd` and `__hfma`.

Why is this bad:
The sum of a long row leaves the range or the precision of the type. Accumulate in float and convert once at the end.

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

from kengine_cuda.lint.texts import kernels_of

_NARROW = re.compile(r"\b(?:__half2?|half2?|__nv_bfloat16|nv_bfloat16)\s+(\w+)\s*=")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at variables of narrow types in kernels with loops."""
    for text, kernel in kernels_of(source):
        body = text.body(kernel)
        for match in _NARROW.finditer(body):
            name = re.escape(match[1])
            added = rf"\b{name}\s*(?:\+=|=\s*(?:__hadd2?|__hfma2?)\s*\([^;]*\b{name}\b|=\s*{name}\s*\+)"
            rest = body[match.end() :]
            if re.search(r"\b(?:for|while)\b", body) and re.search(added, rest):
                yield text.hit(kernel.body_start + 1 + match.start(), f"accumulates {match[1]!r} in 16 bits; use float")


RULE = Rule("KC105", "narrow-accumulator", "warn", check, __doc__, languages=("python", "cuda"))
