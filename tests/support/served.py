"""A server in this process over an engine that answers at once, and the pieces that it is made of."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from kengine import Engine, Plan
from kengine.server.desk import Desk
from kengine.server.protocol import Request
from toy_items import GOOD, item


@cache
def real_verdict():
    """A verdict of the toy backend, for engines that judge nothing."""
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=1) as engine:
        return engine.verify(item(GOOD))


@cache
def toy_info():
    from kengine.engine import selection

    return selection.choose(None, "toy:cpu", False)[1]


class StubEngine:
    """Not an engine: hands out a verdict that was reached before, with the candidate of the item in it."""

    def __init__(self, workers=1, delay_s=0.0, fail=None):
        self.workers, self.delay_s, self.fail = workers, delay_s, fail
        self.plan, self.target_info = Plan(salt="00" * 8), toy_info()
        self.verdict = real_verdict()
        self.seen, self.closed = [], False
        self.gate = threading.Event()
        self.gate.set()

    def verify(self, item):
        self.seen.append(item.candidate.digest)
        self.gate.wait(20)
        time.sleep(self.delay_s)
        if self.fail is not None:
            error = self.fail(item)
            if error is not None:
                raise error
        return replace(self.verdict, candidate=item.candidate, task=item.task)

    def close(self):
        self.closed = True


def desk_of(engine, **options):
    return Desk({"toy:cpu": engine}, **options)


def request(id, text=GOOD, **options):
    made = item(text)
    return Request(str(id), made.candidate, made.task, **options)


@contextmanager
def running(desk, door=None, port=0):
    """Serve a desk from a thread; yields the address."""
    import uvicorn
    from kengine.server.app import Door, create_app
    from kengine.server.metrics import Metrics
    from kengine.server.run import listen

    listener = listen("127.0.0.1", port)
    app = create_app(desk, Metrics(), door or Door(grace_s=0.2))
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        desk.drain()
        server.should_exit = True
        thread.join(10)
        listener.close()
        desk.close()
