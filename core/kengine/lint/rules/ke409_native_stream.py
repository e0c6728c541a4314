"""C++ code works on a stream of its own.

What it does:
Finds streams that host code makes, takes from a pool or sets as current. Asking for the current stream is fine.

Why is this bad:
Work on another stream that is not joined goes on after the call and is not in the measured time. It is a warning: the
checks wait for the whole device.

Example:
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    kernel<<<grid, 256, 0, side>>>(x, y);

Use instead:
    kernel<<<grid, 256, 0, at::cuda::getCurrentCUDAStream()>>>(x, y);
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_MAKES = re.compile(r"(?:cuda|hip|cu)StreamCreate\w*\Z|getStreamFrom(?:Pool|External)\Z|setCurrent(?:CUDA|HIP)Stream\Z|"
                    r"CUDAStreamGuard\Z|CUDAMultiStreamGuard\Z")  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names."""
    for cpp, name in find_native(source).names():
        if _MAKES.match(name.parts[-1]):
            yield cpp.hit(name.at, f"{name.parts[-1]}: work on another stream must be joined before the call returns")


RULE = Rule("KE409", "native-stream", "warn", check, __doc__, ALL)
