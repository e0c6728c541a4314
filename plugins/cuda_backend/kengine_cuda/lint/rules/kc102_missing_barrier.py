"""A kernel shares memory between threads and never waits.

What it does:
Finds kernels that write to a `__shared__` array, read from it, and hold no barrier at all: no `__syncthreads`, no
`__syncwarp`, no `sync()` of a group.

Why is this bad:
One thread reads what another may not have written yet. The answer is right on some runs and wrong on others.

Example:
    __shared__ float tile[256];
    tile[threadIdx.x] = x[i];
    y[i] = tile[255 - threadIdx.x];

Use instead:
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[255 - threadIdx.x];
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule
from kengine.lint.source import SourceTree

from kengine_cuda.lint.texts import kernels_of

_BARRIER = re.compile(r"__sync(?:threads|warp)\w*|\bsync\s*\(|__shfl|barrier|\bwait\s*\(")
_SHARED = re.compile(r"__shared__\s+[\w:<>\s]*?\b(\w+)\s*\[")


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at each kernel with shared arrays."""
    for text, kernel in kernels_of(source):
        body = text.body(kernel)
        if _BARRIER.search(body):
            continue
        for match in _SHARED.finditer(body):
            name = re.escape(match[1])
            written = re.search(rf"\b{name}\s*\[[^;]*?\]\s*[-+*/|&^]?=(?!=)", body[match.end() :])
            # The declaration and one write are two uses; a third reads.
            if written and len(re.findall(rf"\b{name}\s*\[", body)) > 2:
                message = f"kernel {kernel.name!r} shares {match[1]!r} between threads without any barrier"
                yield text.hit(kernel.body_start + 1 + match.start(), message)


RULE = Rule("KC102", "missing-barrier", "warn", check, __doc__, languages=("python", "cuda"))
