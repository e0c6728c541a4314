"""A `tl.arange` whose length is not a power of two.

What it does:
Looks at `tl.arange` with bounds that are written out or bound to constants.

Why is this bad:
Triton only has tiles whose sides are powers of two; the compiler refuses others. The interpreter accepts some of
them.

Example:
    cols = tl.arange(0, 100)

Use instead:
    cols = tl.arange(0, 128)
    mask = cols < 100
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

from kengine_triton.lint.kernels import find_kernels, language_calls


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the bounds."""
    for kernel in find_kernels(source).functions:
        for call in language_calls(source, kernel, "arange"):
            bounds = [source.names.fold(a) for a in call.args[:2]]
            if len(bounds) == 2 and isinstance(bounds[0], int) and isinstance(bounds[1], int):
                length = bounds[1] - bounds[0]
                if length <= 0 or length & (length - 1):
                    yield hit(call, f"tl.arange has {length} elements, which is not a power of two")


RULE = Rule("KT103", "odd-arange", "warn", check, __doc__)
