"""The client itself: batches of items, a deadline for each, retries, and one verdict for equal items at a time."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import time
import uuid
import warnings
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Protocol, TypeVar

from kengine.client.settings import Settings
from kengine.errors import DeadlineExceeded, InfraError, TaskError, WorkerLost
from kengine.rewards.outcome import Judged
from kengine.server.protocol import Answer, Draining, Request, to_exception
from kengine.tasks.item import Item

T = TypeVar("T")


class KengineWarning(UserWarning):
    """Something that a run goes on after, and that somebody should look at."""


class Transport(Protocol):
    """What carries one request to where it is judged."""

    async def judge(self, request: Request) -> Answer:
        """Have it judged."""

    async def close(self) -> None:
        """Let go of processes and connections."""


class Client:
    """Judges items in this process or by a server, as its settings say. Safe to use from any thread and event loop, and
    after a fork; what it needs is started with the first item.

    transport: for those who bring their own.
    """

    def __init__(self, settings: Settings, transport: Transport | None = None) -> None:
        if transport is None:
            settings.check()
        self.settings = settings
        self._given = transport
        self._lock = threading.Lock()
        self._start()

    def judge(self, items: Sequence[Item], deadline_s: float | None = None) -> list[Judged]:
        """Judge items and wait; see `judge_async`."""
        return self._submit(self._judge(list(items), deadline_s)).result()

    async def judge_async(self, items: Sequence[Item], deadline_s: float | None = None) -> list[Judged]:
        """Judge items: in the place of each its verdict, or an InfraError when the machine failed or time was over.

        deadline_s: for each item, in place of the settings'. None stands for an item whose task is broken where the
        settings mask these. Raises TaskError else, UsageError and TargetUnavailable for what will not get better,
        and InfraError when the server was never reached or nothing was judged for `patience_s`.
        """
        return await asyncio.wrap_future(self._submit(self._judge(list(items), deadline_s)))

    def close(self) -> None:
        """End every process and connection of this client; it can be used again afterwards."""
        with self._lock:
            if self._pid != os.getpid():
                return
            loop, thread, transport = self._loop, self._thread, self._transport
            self._start()
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_end(transport), loop).result(timeout=60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=10)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._transport: Transport | None = None
        self._opening: asyncio.Lock | None = None
        self._running: dict[tuple[str, str], asyncio.Task[Judged]] = {}
        self._last_verdict = time.monotonic()

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if self._pid != os.getpid():  # threads and connections belong to the parent of this process
                self._start()
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._opening = None
                self._thread = threading.Thread(target=_run, args=(self._loop,), name="kengine-client", daemon=True)
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _judge(self, items: list[Item], deadline_s: float | None) -> list[Judged]:
        transport = await self._open()
        seconds = self.settings.deadline_s if deadline_s is None else deadline_s
        tasks = [self._join(transport, item, seconds) for item in items]
        if tasks:
            await asyncio.wait(tasks)
        for task in tasks:
            task.exception()  # seen, so that a second one is not reported as lost; the first is raised below
        return [task.result() for task in tasks]

    async def _open(self) -> Transport:
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self._transport is None:
                if self._given is not None:
                    self._transport = self._given
                elif self.settings.url:
                    from kengine.client.remote import Remote

                    remote = Remote(self.settings)
                    try:
                        await remote.greet()
                    except BaseException:
                        await remote.close()
                        raise
                    self._transport = remote
                else:
                    from kengine.client.local import Local

                    self._transport = await asyncio.to_thread(Local, self.settings)
                self._last_verdict = time.monotonic()
            return self._transport

    def _join(self, transport: Transport, item: Item, seconds: float) -> asyncio.Future[Judged]:
        """Judging of this item, shared with all who ask for an equal one meanwhile: samples of a group often are."""
        key = (item.candidate.digest, item.task.digest)
        task = self._running.get(key)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._one(transport, item, seconds))
            self._running[key] = task
            task.add_done_callback(lambda _: self._running.pop(key, None))
        return asyncio.shield(task)

    async def _one(self, transport: Transport, item: Item, seconds: float) -> Judged:
        end = time.monotonic() + seconds
        name = uuid.uuid4().hex
        attempt = 0
        while True:
            left = max(end - time.monotonic(), 0.01)
            request = Request(f"{name}.{attempt}", item.candidate, item.task, deadline_s=left)
            try:
                answer = await asyncio.wait_for(transport.judge(request), left)
            except (asyncio.TimeoutError, TimeoutError):
                return self._lost(DeadlineExceeded(f"no verdict on {item.task.name} within {seconds:g} s"))
            if answer.verdict is not None:
                self._last_verdict = time.monotonic()
                return answer.verdict
            error = to_exception(answer)
            if isinstance(error, TaskError) and self.settings.broken_task == "mask":
                warnings.warn(f"samples of task {item.task.name} are masked: {error}", KengineWarning, stacklevel=2)
                return None
            if not isinstance(error, InfraError):
                raise error
            attempt += not isinstance(error, Draining)  # a server that restarts is waited for, as one that is away
            pause = 1.0 if isinstance(error, Draining) else 0.05
            if isinstance(error, DeadlineExceeded) or attempt > self.settings.retries:
                return self._lost(error)
            if time.monotonic() + pause > end:
                return self._lost(error)
            await asyncio.sleep(pause)

    def _lost(self, error: InfraError) -> InfraError:
        silent = time.monotonic() - self._last_verdict
        if silent > self.settings.patience_s:
            raise WorkerLost(f"no verdict for {silent:.0f} s, so the run cannot go on; the last problem was: {error}")
        warnings.warn(f"a sample is masked: {error}", KengineWarning, stacklevel=2)
        return error


_shared: dict[Settings, Client] = {}
_shared_lock = threading.Lock()


def shared(settings: Settings) -> Client:
    """The client of this process for these settings; closed when the process ends."""
    with _shared_lock:
        client = _shared.get(settings)
        if client is None:
            client = _shared[settings] = Client(settings)
            atexit.register(client.close)
        return client


async def _end(transport: Transport | None) -> None:
    if transport is not None:
        await transport.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def close_shared() -> None:
    """Close every shared client of this process; the next use opens them again."""
    with _shared_lock:
        clients = list(_shared.values())
    for client in clients:
        client.close()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.close()
