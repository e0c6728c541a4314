"""The candidate replaces a clock or what is measured with it.

What it does:
Finds the same writes as KE105 where the target is a clock or part of a measurement: `time.*`, `torch.cuda.Event`,
`torch.cuda.synchronize`, streams, `statistics`, profilers, and what the libraries of backends measure with.

Why is this bad:
It changes the measured time without changing the work.

Example:
    torch.cuda.Event.elapsed_time = lambda self, end: 1e-3

Use instead:
    Make the kernel faster.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.patches import find_patches
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

CLOCKS = (
    "time", "timeit", "datetime", "statistics", "torch.cuda.Event", "torch.cuda.synchronize", "torch.cuda.Stream",
    "torch.cuda.streams", "torch.cuda.current_stream", "torch.Event", "torch.utils.benchmark", "torch.profiler",
    "torch.autograd.profiler", "cupy.cuda.Event", "cupyx.profiler", "torch.accelerator",
    "torch.cuda.default_stream", "torch.mps.event",
)  # fmt: skip


def is_clock(member: str) -> bool:
    """Whether a dotted name belongs to the measuring of time."""
    return is_within(member, CLOCKS) or is_within(member, dialect.declared().clocks)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Report every patch of a clock."""
    for node, member in find_patches(source):
        if is_clock(member):
            yield hit(node, f"replaces {member}, with which time is measured")


RULE = Rule("KE301", "patches-clock", "reject", check, __doc__)
