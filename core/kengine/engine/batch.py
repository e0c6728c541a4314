"""Many candidates at once: results in the order of the items, as a plain or an asynchronous iterator."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from kengine.errors import InternalError, KengineError, WorkerLost

if TYPE_CHECKING:
    from kengine.model import Verdict
    from kengine.tasks import Item


class Pool:
    """Daemon threads that run one job each, so that a program may end while a candidate still hangs."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._queue: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, work: Callable[[], Any]) -> Future[Any]:
        """Run `work` on a thread of the pool."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise WorkerLost("the engine is closed")
            if len(self._threads) < self.workers:
                thread = threading.Thread(target=self._run, name=f"kengine-{len(self._threads)}", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queue.put((future, work))
        return future

    def close(self) -> None:
        """Let every thread end after the job it is at, and refuse the jobs that have not begun."""
        with self._lock:
            self._closed = True
            threads = list(self._threads)
        while True:
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                break
            if waiting is not None and waiting[0].set_running_or_notify_cancel():
                waiting[0].set_exception(WorkerLost("the engine was closed before this candidate was judged"))
        for _ in threads:
            self._queue.put(None)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout=10)

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            future, work = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)


class Batch:
    """The verdicts of many items, in their order. Iterate it once, with `for` or with `async for`.

    Items are drawn as workers become free, so an endless iterable is fine; what it raises itself is raised after the
    verdicts of the items before. With return_exceptions, the exception of a broken task, a failed machine or a mistake
    of kengine's own (InternalError) stands in the place of its verdict; else it is raised there.
    """

    def __init__(
        self, pool: Pool, verify: Callable[[Item], Verdict], items: Iterable[Item], return_exceptions: bool
    ) -> None:
        self._pool = pool
        self._verify = verify
        self._items = iter(items)
        self._return_exceptions = return_exceptions
        self._broken: BaseException | None = None
        self._pending: deque[Future[Any]] = deque()

    def __iter__(self) -> Iterator[Verdict | KengineError]:
        try:
            while (future := self._next()) is not None:
                yield self._result(future)
        finally:
            self._cancel()

    async def __aiter__(self) -> AsyncIterator[Verdict | KengineError]:
        try:
            while (future := self._next()) is not None:
                await asyncio.wait([asyncio.wrap_future(future)])
                yield self._result(future)
        finally:
            self._cancel()

    def _next(self) -> Future[Any] | None:
        # Twice the workers in flight: nobody idles while the head of the line is waited for.
        while self._broken is None and len(self._pending) < 2 * self._pool.workers:
            try:
                item = next(self._items)
            except StopIteration:
                break
            except Exception as error:
                self._broken = error  # raised at its place: what was drawn before it is judged and not lost
                break
            self._pending.append(self._pool.submit(lambda item=item: self._verify(item)))  # type: ignore[misc]
        if self._pending:
            return self._pending.popleft()
        if self._broken is not None:
            raise self._broken
        return None

    def _result(self, future: Future[Any]) -> Verdict | KengineError:
        try:
            verdict: Verdict = future.result()
        except (Exception, SystemExit) as error:
            known = error if isinstance(error, KengineError) else InternalError.of(error)
            if self._return_exceptions:
                return known
            if known is error:
                raise
            raise known from error
        return verdict

    def _cancel(self) -> None:
        for future in self._pending:
            future.cancel()
        self._pending.clear()
