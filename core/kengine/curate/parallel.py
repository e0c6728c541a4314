"""Work on many items by several threads at once: results come in order, and it ends when nobody wants the rest."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_parallel(
    work: Callable[[T], R], items: Iterator[T], jobs: int, abandon: Callable[[], None] = lambda: None,
    patience_s: float | None = None,
) -> Iterator[R]:  # fmt: skip
    """Results in the order of the items, `jobs` at a time, drawing at most four times as many ahead.

    abandon: called when nobody wants the rest any more, as after Ctrl-C, to end the work that is being done.
    patience_s: how long that work is then waited for; None waits for its end. What is not waited for keeps neither the
    caller nor the end of the process: answers from elsewhere, and nothing that leaves processes or files behind.
    """
    tasks: SimpleQueue[tuple[Future[R], T] | None] = SimpleQueue()
    threads: list[threading.Thread] = []
    pending: deque[Future[R]] = deque()
    until: float | None = None
    try:
        for item in items:
            pending.append(Future())
            tasks.put((pending[-1], item))
            if len(threads) < jobs:
                # Not those of an executor, for which Python waits at the end of the process.
                threads.append(threading.Thread(target=_serve, args=(tasks, work), daemon=True))
                threads[-1].name = f"curate_{len(threads)}"
                threads[-1].start()
            if len(pending) >= 4 * jobs:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BaseException as error:
        if not isinstance(error, Exception):
            until = None if patience_s is None else time.monotonic() + patience_s
            abandon()
        raise
    finally:
        for future in pending:
            future.cancel()
        for _ in threads:
            tasks.put(None)
        for thread in threads:
            thread.join(None if until is None else max(0.0, until - time.monotonic()))


def _serve(tasks: SimpleQueue[tuple[Future[R], T] | None], work: Callable[[T], R]) -> None:
    while (task := tasks.get()) is not None:
        future, item = task
        if not future.set_running_or_notify_cancel():
            continue
        try:
            result = work(item)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)
            del result
        del task, future, item  # nothing is held on to while there is nothing to do
