"""A kernel that writes nothing.

What it does:
Finds kernels whose body has no assignment through a pointer, no atomic operation and no call that could write.

Why is this bad:
Its launches do no work; the result comes from somewhere else.

Example:
    __global__ void scale(const float* x, float* y, int n) { int i = threadIdx.x; }

Use instead:
    y[i] = 2.0f * x[i];
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit

from kengine_hip.lint.text import DeviceText, TextRule

_WRITES = re.compile(r"\]\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\*\s*\(?[\w.>-]+[^=;]*\)?\s*=(?!=)|->\s*\w+\s*[-+*/]?=(?!=)"
                     r"|\]\s*(?:\.\w+\s*[-+*/]?=(?!=)|\+\+|--)|\b(?:unsafeA|a)tomic\w+|__hip_atomic|\b\w*(?:store|write|"
                     r"copy|set)\w*\s*[(<]", re.IGNORECASE)  # fmt: skip


def check(text: DeviceText, context: Context) -> Iterator[Hit]:
    """Look at the body of every kernel; one that calls functions of the file may write through them."""
    own = set(re.findall(r"__device__[^;{}()]*?\b(\w+)\s*\(", text.code))
    for kernel in text.kernels:
        body = text.code[kernel.body_start : kernel.body_end]
        calls = set(re.findall(r"\b(\w+)\s*(?:<[^;<>]*>)?\s*\(", body))
        if not _WRITES.search(body) and not calls & own:
            yield Hit(text.first + kernel.line - 1, f"kernel {kernel.name!r} writes nothing")


RULE = TextRule("KH105", "empty-kernel", "warn", check, __doc__)
