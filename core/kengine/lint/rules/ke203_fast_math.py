"""Compiler flags give up accuracy.

What it does:
Finds `--use_fast_math`, `-ffast-math`, `-Ofast`, `-ftz=true`, `-prec-div=false` and their kin among strings of live
code.

Why is this bad:
They change the answer of every operation of the source, infinities and NaN included. It is a warning: the comparison
decides whether the error is within what the task allows.

Example:
    load_inline(..., extra_cuda_cflags=["-O3", "--use_fast_math"])

Use instead:
    An intrinsic where it is needed, such as `__expf`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_FLAG = re.compile(
    r"--?(?:use_fast_math|ffast-math|Ofast|ftz=true|prec-div=false|prec-sqrt=false|funsafe-math-optimizations|"
    r"ffinite-math-only|fgpu-flush-denormals-to-zero)\Z"
)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at strings that are flags."""
    for node in source.find(ast.Constant):
        if isinstance(node.value, str) and len(node.value) < 200:
            flag = next((word for word in node.value.split() if _FLAG.match(word)), "")
            if flag and not isinstance(source.parents.get(node), ast.Expr):
                yield hit(node, f"{flag} gives up accuracy in the whole source")


RULE = Rule("KE203", "fast-math", "warn", check, __doc__)
