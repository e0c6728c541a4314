"""Where requests are taken, queued, judged and answered exactly once; knows nothing of HTTP."""

from __future__ import annotations

import heapq
import itertools
import queue
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Protocol, Union

from kengine.errors import DeadlineExceeded, InternalError, KengineError, UsageError
from kengine.server.protocol import (
    Answer,
    Draining,
    Request,
    failure,
)

if TYPE_CHECKING:
    from typing import TypeAlias

    from kengine.config import Plan
    from kengine.model import TargetInfo, Verdict
    from kengine.tasks.item import Item

_CANCELLED = "the request was taken back before it was judged"


class Judging(Protocol):
    """The part of an `Engine` that a desk needs."""

    @property
    def target_info(self) -> TargetInfo:
        """The target that launches."""

    @property
    def plan(self) -> Plan:
        """What is done with each candidate."""

    @property
    def workers(self) -> int:
        """Candidates judged side by side."""

    def verify(self, item: Item) -> Verdict:
        """Judge one candidate."""

    def close(self) -> None:
        """End every process."""


class QueueFull(KengineError):
    """No room for these requests now; `retry_after_s` says when to try again."""

    def __init__(self, message: str, retry_after_s: float) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Job:
    """One request on its way; `future` gets its answer, once."""

    def __init__(self, request: Request, deadline_s: float) -> None:
        self.request = request
        self.future: Future[Answer] = Future()
        self.future.set_running_or_notify_cancel()  # several may wait for it: none of them can cancel it
        self.arrived = time.monotonic()
        self.deadline = self.arrived + deadline_s
        self.deadline_s = deadline_s
        self.started: float | None = None
        self.ended: float | None = None

    @property
    def status(self) -> Literal["queued", "running", "done"]:
        """Where it is."""
        return "done" if self.ended is not None else "queued" if self.started is None else "running"


Observer = Callable[[Job, Answer], None]
Work = Union["Item", KengineError]
_Queue: TypeAlias = "queue.SimpleQueue[tuple[Job, Item] | None]"


class Desk:
    """Queues requests for engines and answers each of them once; thread-safe.

    room: requests that may wait, over all targets. deadline_s: for requests that name none. keep: answers that are
    remembered, so that a request which is sent again after a lost connection is not judged again. observe: called with
    each job and its answer, from any thread. The engines are closed with the desk.
    """

    def __init__(
        self, engines: Mapping[str, Judging], *, room: int = 1024, deadline_s: float = 600.0, keep: int = 2048,
        observe: Observer | None = None,
    ) -> None:  # fmt: skip
        if not engines:
            raise UsageError("no target to judge on")
        self.engines = dict(engines)
        self.room = room
        self.deadline_s = deadline_s
        self.draining = False
        self._keep = keep
        self._observe = observe
        self._lock = threading.Condition()
        # One queue a target wakes one worker a request; a condition that all share would wake every one of them.
        self._queues: dict[str, _Queue] = {name: queue.SimpleQueue() for name in self.engines}
        self._queued = self._running = 0
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._done: deque[str] = deque()
        self._alarms: list[tuple[float, int, weakref.ref[Job]]] = []
        self._numbers = itertools.count()
        self._mean_s = 1.0
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, args=(name,), name=f"kengine-desk-{name}-{n}", daemon=True)
            for name, engine in self.engines.items()
            for n in range(engine.workers)
        ]
        self._threads.append(threading.Thread(target=self._watch, name="kengine-desk-clock", daemon=True))
        for thread in self._threads:
            thread.start()

    def submit(self, requests: Sequence[Request]) -> list[Job]:
        """Take all of these requests or none. A request whose id is known gets the job that has it.

        Raises QueueFull, Draining, UsageError for a target that is not served and for the id of another candidate; a
        broken task is an answer.
        """
        prepared = [(request, self._target(request), _read(request)) for request in requests]
        with self._lock:
            if self.draining or self._closed:
                raise Draining("the server is shutting down")
            seen: dict[str, Request] = {}
            for request in requests:
                known = self._jobs.get(request.id)
                _check_same(request, known.request if known is not None else seen.setdefault(request.id, request))
            new = len({r.id for r in requests if r.id not in self._jobs})
            if new and self._queued + new > self.room:
                raise QueueFull(
                    f"{self._queued} requests wait and {self.room} may: no room for {new} more", self._retry_after()
                )
            jobs = [self._take(request, target, work) for request, target, work in prepared]
        for job, (_, _, work) in zip(jobs, prepared):
            if isinstance(work, KengineError):  # the task could not be read: answered at once, never queued
                self._settle(job, failure(job.request.id, work))
        return jobs

    def find(self, id: str) -> Job | None:
        """The job of a request that waits, runs or was answered lately."""
        with self._lock:
            return self._jobs.get(id)

    def cancel(self, id: str) -> bool:
        """Take back a request that waits; one that runs goes on. Returns whether it was waiting."""
        with self._lock:
            job = self._jobs.get(id)
            if job is None or job.status != "queued":
                return False
        return self._settle(job, Answer(id, error="Cancelled", message=_CANCELLED))

    def load(self) -> tuple[int, int]:
        """How many requests wait, and how many are being judged."""
        with self._lock:
            return self._queued, self._running

    def drain(self) -> None:
        """Take nothing new and turn away what waits; what is being judged goes on."""
        with self._lock:
            self.draining = True
            waiting = [job for job in self._jobs.values() if job.status == "queued"]
        for job in waiting:
            self._settle(job, failure(job.request.id, Draining("the server was shut down before this was judged")))

    def close(self, grace_s: float = 0.0) -> None:
        """Drain, give what is being judged `grace_s` to end, answer the rest and close the engines."""
        self.drain()
        end = time.monotonic() + grace_s
        with self._lock:
            while self._running and (left := end - time.monotonic()) > 0:
                self._lock.wait(left)
            self._closed = True
            unanswered = [job for job in self._jobs.values() if job.ended is None]
            self._lock.notify_all()
        for name, engine in self.engines.items():
            for _ in range(engine.workers):
                self._queues[name].put(None)
        for job in unanswered:
            self._settle(job, failure(job.request.id, Draining("the server was shut down while this was judged")))
        for engine in self.engines.values():
            engine.close()
        for thread in self._threads:
            thread.join(timeout=10)

    def _target(self, request: Request) -> str:
        if request.target in self.engines:
            return request.target
        if not request.target and len(self.engines) == 1:
            return next(iter(self.engines))
        served = ", ".join(self.engines)
        raise UsageError(f"request {request.id}: target {request.target!r} is not served here; served: {served}")

    def _take(self, request: Request, target: str, work: Work) -> Job:
        known = self._jobs.get(request.id)
        if known is not None:
            return known
        job = Job(request, self.deadline_s if request.deadline_s is None else request.deadline_s)
        self._jobs[request.id] = job
        self._queued += 1
        if not isinstance(work, KengineError):
            self._queues[target].put((job, work))
            if not self._alarms or job.deadline < self._alarms[0][0]:
                self._lock.notify_all()
            heapq.heappush(self._alarms, (job.deadline, next(self._numbers), weakref.ref(job)))
        return job

    def _work(self, target: str) -> None:
        engine, waiting = self.engines[target], self._queues[target]
        while (taken := waiting.get()) is not None:
            job, item = taken
            with self._lock:
                if job.ended is not None:
                    continue
                job.started = time.monotonic()
                self._queued -= 1
                self._running += 1
            try:
                left = max(job.deadline - time.monotonic(), 0.001)
                answer = Answer(job.request.id, engine.verify(replace(item, within_s=left)))
            except BaseException as error:
                answer = failure(job.request.id, error)
            self._settle(job, answer)
            with self._lock:
                self._running -= 1
                self._mean_s += 0.1 * (time.monotonic() - job.started - self._mean_s)
                if self.draining:
                    self._lock.notify_all()

    def _watch(self) -> None:
        """Answer the requests whose time is over, whatever is still being done for them."""
        while True:
            with self._lock:
                if self._closed:
                    return
                now = time.monotonic()
                if not self._alarms or self._alarms[0][0] > now:
                    self._lock.wait(self._alarms[0][0] - now if self._alarms else None)
                    continue
                job = heapq.heappop(self._alarms)[2]()
            if job is not None and job.ended is None:
                where = "in the queue" if job.started is None else "while it was judged"
                error = DeadlineExceeded(f"the {job.deadline_s:.3g} s of this request ended {where}")
                self._settle(job, failure(job.request.id, error))

    def _settle(self, job: Job, answer: Answer) -> bool:
        """Give a job its answer, unless it has one already."""
        with self._lock:
            if job.ended is not None:
                return False
            job.ended = time.monotonic()
            self._queued -= job.started is None
            self._done.append(job.request.id)
            while len(self._done) > self._keep:
                self._jobs.pop(self._done.popleft(), None)
        if self._observe is not None:
            self._observe(job, answer)
        job.future.set_result(answer)
        return True

    def _retry_after(self) -> float:
        # When about a quarter of the queue will have been worked off.
        workers = sum(engine.workers for engine in self.engines.values())
        return min(max(self.room / 4 * self._mean_s / workers, 0.05), 30.0)


def _read(request: Request) -> Work:
    try:
        return request.item()
    except KengineError as error:
        return error
    except Exception as error:  # a mistake of kengine's over one text must not turn away those that came with it
        return InternalError.of(error)


def _check_same(request: Request, known: Request) -> None:
    if replace(known, deadline_s=None) != replace(request, deadline_s=None):
        raise UsageError(f"id {request.id!r} is that of another request: give each candidate an id of its own")
