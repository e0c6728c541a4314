"""C++ code starts threads or has the device call back.

What it does:
Finds `std::thread`, `std::jthread`, `std::async`, `pthread_create`, `cudaLaunchHostFunc` and stream callbacks.

Why is this bad:
Work in another thread goes on after the call has returned, so it is not in the measured time. It is a warning: the
integrity checks look at what is left running.

Example:
    std::thread([=] { kernel<<<grid, 256>>>(x, y); }).detach();

Use instead:
    kernel<<<grid, 256>>>(x, y);
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_STD = frozenset({"thread", "jthread", "async", "packaged_task"})
_CALLS = frozenset(
    {
        "pthread_create",
        "cudaLaunchHostFunc",
        "hipLaunchHostFunc",
        "cudaStreamAddCallback",
        "cuLaunchHostFunc",
        "hipStreamAddCallback",
        "thrd_create",
    }
)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names."""
    for cpp, name in find_native(source).names():
        std = len(name.parts) > 1 and name.parts[0] == "std" and name.parts[1] in _STD
        if std or (name.parts[-1] in _CALLS and name.arguments is not None):
            yield cpp.hit(name.at, f"{name.text} lets work go on outside of the call; do all of it before returning")


RULE = Rule("KE407", "native-threads", "warn", check, __doc__, ALL)
