"""The candidate works on a stream of its own.

What it does:
Finds streams that live code makes. Asking for the current stream is fine.

Why is this bad:
Work on another stream that is not joined goes on after the call and is not in the measured time. It is a warning: the
checks wait for the whole device and compare what is in memory right after the call with what is there later.

Example:
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        kernel[grid](x, y)
    return y

Use instead:
    Launch on the current stream, or let it wait for the side stream before returning.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = frozenset({"torch.cuda.Stream", "torch.cuda.streams.Stream", "torch.cuda.ExternalStream", "torch.Stream",
                    "cupy.cuda.Stream", "cupy.cuda.ExternalStream", "torch.cuda.set_stream"})  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at calls."""
    for call, names in source.calls():
        for name in sorted(names & _NAMES):
            yield hit(call, f"{name}: work on another stream must be joined before the call returns")


RULE = Rule("KE302", "uses-side-stream", "warn", check, __doc__)
