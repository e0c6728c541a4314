"""A lane mask of 32 bits where wavefronts have 64 lanes.

What it does:
Finds `_sync` shuffles, votes and barriers whose mask is written with 32 bits or fewer.

Why is this bad:
ROCm refuses such masks when it compiles: the upper lanes of a wavefront would be left out.

Example:
    v += __shfl_down_sync(0xffffffff, v, 16);

Use instead:
    v += __shfl_down_sync(0xffffffffffffffffULL, v, 16);
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree

from kengine_hip.lint.text import find_texts

_CALL = re.compile(r"\b(__(?:shfl\w*|ballot|any|all|match_\w+|reduce_\w+)_sync|__syncwarp)\s*\(\s*"
                   r"(0[xX][0-9a-fA-F]{1,8}[uU]?|~0[uU]?|-1|FULL_MASK)\s*[,)]")  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the first argument of every such call."""
    for text in find_texts(source):
        for match in _CALL.finditer(text.code):
            mask = match.group(2)
            if mask == "FULL_MASK" and not re.search(
                r"\bFULL_MASK\b\s*=?\s*(?:0[xX][0-9a-fA-F]{1,8}[uU]?)\b(?![0-9a-fA-FuUlL])", text.code
            ):
                continue
            yield Hit(text.line(match.start()), f"{match.group(1)} has the 32-bit mask {mask}; AMD needs 64 bits")


RULE = Rule("KH101", "narrow-mask", "warn", check, __doc__, languages=("python", "hip"))
