"""The candidate starts threads.

What it does:
Finds threads, timers, executors and event loops: `threading.Thread`, `_thread.start_new_thread`,
`concurrent.futures`, `asyncio.run`, `weakref.finalize` and `atexit`. Locks and thread-local storage are fine.

Why is this bad:
Work in another thread goes on after the call has returned, so it is not in the measured time. Work at exit is in
none. It is a warning: the integrity checks look at what is left running.

Example:
    threading.Thread(target=lambda: kernel[grid](x, y)).start()
    return y

Use instead:
    kernel[grid](x, y)
    return y
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.names import is_within
from kengine.lint.rule import Context, Hit, Rule, hit
from kengine.lint.source import SourceTree

_NAMES = (
    "threading.Thread", "threading.Timer", "_thread.start_new_thread", "_thread.start_new",
    "_thread.start_joinable_thread", "concurrent.futures.ThreadPoolExecutor", "concurrent.futures.thread",
    "multiprocessing.pool.ThreadPool", "multiprocessing.dummy", "asyncio.run", "asyncio.to_thread",
    "asyncio.get_event_loop", "asyncio.new_event_loop", "asyncio.create_task", "sched.scheduler", "queue.Queue",
    "atexit.register", "weakref.finalize", "torch.futures", "torch.jit.fork", "torch.jit._fork", "greenlet", "gevent",
)  # fmt: skip


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look for names."""
    for node, name in source.references():
        if is_within(name, _NAMES):
            yield hit(node, f"{name} lets work go on outside of the call; do all of it before returning")


RULE = Rule("KE109", "starts-threads", "warn", check, __doc__)
