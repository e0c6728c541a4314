"""The HTTP face: routes, and how answers become status codes."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from kengine import __version__, codec
from kengine.codec import CodecError
from kengine.errors import UsageError
from kengine.server import protocol
from kengine.server.desk import Desk, Job, QueueFull
from kengine.server.gate import ERROR_SCHEMA, Gate
from kengine.server.metrics import Metrics
from kengine.server.protocol import SCHEMAS, Answer, Batch, Draining, Health, JobState, Served

T = TypeVar("T")
NDJSON = "application/x-ndjson"
_CODES = {"TaskError": 422, "UsageError": 422, "TargetUnavailable": 422, "DeadlineExceeded": 504, "Draining": 503}
_LARGE = 1 << 18
"""Bodies above this many bytes are decoded on a thread, so that the others need not wait for it."""


@dataclass(frozen=True)
class Door:
    """Who may come in and how much they may bring; see `Gate`."""

    token: str = ""
    hosts: frozenset[str] = frozenset()
    max_request_bytes: int = 8 << 20
    max_batch: int = 64
    grace_s: float = 30.0


def create_app(desk: Desk, metrics: Metrics, door: Door | None = None) -> FastAPI:
    """The ASGI application over a desk, which is closed when the application shuts down."""
    door = door or Door()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(desk.close, door.grace_s)

    app = FastAPI(title="kengine", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.add_middleware(Gate, token=door.token, hosts=door.hosts, max_bytes=door.max_request_bytes)
    app.add_exception_handler(QueueFull, _full(metrics))
    app.add_exception_handler(Draining, _draining)
    app.add_exception_handler(UsageError, _usage)

    async def verify(http: Request) -> Response:
        job = desk.submit([await _read(http, protocol.Request)])[0]
        return await _respond(await asyncio.wrap_future(job.future))

    async def verify_batch(http: Request) -> Response:
        batch = await _read(http, Batch)
        if len(batch.requests) > _most(desk, door):
            raise UsageError(f"{len(batch.requests)} requests in one batch, at most {_most(desk, door)}")
        jobs = desk.submit(batch.requests)
        return StreamingResponse(_lines(jobs), media_type=NDJSON)

    async def submit(http: Request) -> Response:
        return _json(_state(desk.submit([await _read(http, protocol.Request)])[0]), 202)

    async def state(id: str) -> Response:
        job = desk.find(id)
        return _json(_state(job)) if job is not None else _error(404, "NotFound", f"no request {id!r}, or forgotten")

    async def cancel(id: str) -> Response:
        job = desk.find(id)
        if job is None:
            return _error(404, "NotFound", f"no request {id!r}, or forgotten")
        return _json(_state(job), 200 if desk.cancel(id) else 409)

    async def health() -> Response:
        return _json(_health(desk, door), 503 if desk.draining else 200)

    async def measures() -> Response:
        return Response(metrics.text(desk), media_type="text/plain; version=0.0.4; charset=utf-8")

    for path, method, code, function, summary in (
        ("/verify", "POST", 200, verify, "Judge one candidate and wait for the verdict."),
        ("/verify/batch", "POST", 200, verify_batch, "Judge many; one answer a line, each as soon as it is there."),
        ("/jobs", "POST", 202, submit, "Hand in one candidate; ask for it later."),
        ("/jobs/{id}", "GET", 200, state, "How far a request is, and its answer when there is one."),
        ("/jobs/{id}", "DELETE", 200, cancel, "Take back a request that waits."),
        ("/health", "GET", 200, health, "Version, schemas, targets, limits and load."),
        ("/metrics", "GET", 200, measures, "Counters for Prometheus."),
    ):
        app.add_api_route(path, function, methods=[method], status_code=code, summary=summary)
    return app


async def _read(http: Request, kind: type[T]) -> T:
    body = await http.body()
    return codec.loads(body, kind) if len(body) < _LARGE else await asyncio.to_thread(codec.loads, body, kind)


async def _respond(answer: Answer) -> Response:
    code = 200 if answer.verdict is not None else _CODES.get(answer.error, 503)
    return _json(answer, code)


async def _lines(jobs: list[Job]) -> AsyncIterator[bytes]:
    loop = asyncio.get_running_loop()
    done: asyncio.Queue[Answer] = asyncio.Queue()
    unique = list({id(job): job for job in jobs}.values())
    for job in unique:
        job.future.add_done_callback(lambda f: _tell(loop, done, f.result()))
    for _ in unique:
        yield codec.dumps(await done.get()).encode() + b"\n"


def _tell(loop: asyncio.AbstractEventLoop, done: asyncio.Queue[Answer], answer: Answer) -> None:
    with suppress(RuntimeError):  # the server has ended, and its loop with it
        loop.call_soon_threadsafe(done.put_nowait, answer)


def _state(job: Job) -> JobState:
    started = job.started if job.started is not None else job.ended
    now = time.monotonic()
    answer = job.future.result() if job.future.done() else None
    return JobState(
        job.request.id,
        job.status,
        (now if started is None else started) - job.arrived,
        0.0 if job.started is None else (job.ended or now) - job.started,
        answer,
    )


def _most(desk: Desk, door: Door) -> int:
    """Requests that one batch may hold: more than may wait would be refused for ever, since a batch is taken whole."""
    return min(door.max_batch, desk.room)


def _health(desk: Desk, door: Door) -> Health:
    queued, running = desk.load()
    targets = tuple(
        Served(e.target_info.target, e.target_info.emulated, e.workers, replace(e.plan, salt=""))
        for e in desk.engines.values()
    )
    return Health(
        "draining" if desk.draining else "ready", __version__, SCHEMAS, targets, queued, running, desk.room,
        _most(desk, door), door.max_request_bytes, desk.deadline_s,
    )  # fmt: skip


def _json(record: Any, code: int = 200) -> Response:
    return Response(codec.dumps(record), code, media_type="application/json")


def _error(code: int, error: str, message: str, retry_after_s: float | None = None) -> Response:
    body: dict[str, Any] = {"schema": ERROR_SCHEMA, "error": error, "message": message}
    if retry_after_s is None:
        return Response(json.dumps(body), code, media_type="application/json")
    body["retry_after_s"] = round(retry_after_s, 3)  # the header can only hold whole seconds
    headers = {"Retry-After": str(math.ceil(retry_after_s))}
    return Response(json.dumps(body), code, headers, media_type="application/json")


def _full(metrics: Metrics) -> Any:
    async def answer(http: Request, error: Exception) -> Response:
        assert isinstance(error, QueueFull)
        metrics.refused.inc()
        return _error(429, "QueueFull", str(error), error.retry_after_s)

    return answer


async def _draining(http: Request, error: Exception) -> Response:
    return _error(503, "Draining", str(error), 5.0)


async def _usage(http: Request, error: Exception) -> Response:
    schema = isinstance(error, CodecError) and ".schema" in str(error)
    code = 409 if schema else 400
    said = f"{error}; this is kengine {__version__}: client and server must be of one version" if schema else str(error)
    return _error(code, type(error).__name__, said)
