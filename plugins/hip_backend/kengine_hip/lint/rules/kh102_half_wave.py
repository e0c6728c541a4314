"""A reduction by shuffles that begins at 16 lanes and stops at half of a wavefront.

What it does:
Finds loops that start a shuffle at distance 16 (or list it as the first of a chain) without a width of 32.

Why is this bad:
On chips with 64 lanes it adds up half of a wavefront; lanes 32 to 63 are lost, or counted elsewhere.

Example:
    for (int d = 16; d > 0; d /= 2) v += __shfl_down(v, d);

Use instead:
    for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree
from kengine.simt.lexer import closing, split_commas

from kengine_hip.lint.text import find_texts

_LOOP = re.compile(r"\bfor\s*\(\s*(?:unsigned\s+|const\s+)*(?:int|unsigned|auto|size_t|uint32_t)?\s*(\w+)\s*=\s*16\s*;")
_SHUFFLE = re.compile(r"\b__shfl_(?:down|xor|up)(?:_sync)?\s*\(")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at the first shuffle behind each such loop."""
    if context.target.arch.endswith("gfx1100"):
        return
    for text in find_texts(source):
        for loop in _LOOP.finditer(text.code):
            shuffle = _SHUFFLE.search(text.code, loop.end(), loop.end() + 400)
            if shuffle is None:
                continue
            end = closing(text.code, shuffle.end() - 1)
            given = split_commas(text.code[shuffle.end() : end]) if end > 0 else []
            usual = 3 if "_sync" in shuffle.group(0) else 2
            if loop.group(1) in re.findall(r"\w+", " ".join(given)) and len(given) <= usual:
                yield Hit(text.line(loop.start()), "the reduction covers 32 lanes; a wavefront here has 64")


RULE = Rule("KH102", "half-wave", "warn", check, __doc__, languages=("python", "hip"))
