"""The candidate reads a clock or sleeps.

What it does:
Finds `time.*`, `datetime.now`, events and `do_bench` in code that the entry reaches.

Why is this bad:
A kernel's result does not depend on the time of day. Clocks tell warm-up from measurement, and sleeping in warm-up
makes an adaptive harness measure less. It is a warning: autotuners time too.

Example:
    if time.perf_counter() - START < 1.0:
        return exact(x)

Use instead:
    Do the same work in every call.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree
from kengine.plugins import dialect

_NAMES = (
    "time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic", "time.monotonic_ns",
    "time.process_time", "time.thread_time", "time.sleep", "time.clock_gettime", "datetime.datetime.now",
    "datetime.datetime.utcnow", "datetime.date.today", "timeit", "torch.cuda.Event",
    "torch.utils.benchmark", "torch.cuda._sleep",
)  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names."""
    timers = dialect.declared().timers
    for node, name in source.references():
        if node in source.reached and (is_within(name, _NAMES) or is_within(name, timers)):
            yield hit(node, f"{name}: what a kernel does may not hang on a clock")


RULE = Rule("KE303", "reads-clock", "warn", check, __doc__)
