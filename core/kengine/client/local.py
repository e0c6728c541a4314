"""Judging in this process: a desk with one engine, without HTTP between."""

from __future__ import annotations

import asyncio
import itertools
import sys
from contextlib import suppress
from dataclasses import replace

from kengine import config
from kengine.client.settings import Settings
from kengine.server.desk import Desk
from kengine.server.protocol import Answer, Request

_UNBOUNDED = sys.maxsize


class Local:
    """Has an engine of this process judge. Raises at once when the target cannot do it."""

    def __init__(self, settings: Settings) -> None:
        from kengine.engine import Engine

        settings.check()
        project = config.read()
        plan = settings.plan or project.plan
        # A candidate that hangs must run into its own limits, which is its fault, before the caller's time is over,
        # which is nobody's.
        own = settings.deadline_s / 2
        plan = replace(
            plan, compile_timeout_s=min(plan.compile_timeout_s, own), launch_timeout_s=min(plan.launch_timeout_s, own)
        )
        engine = Engine(settings.backend, settings.target, plan=plan, workers=settings.workers or project.workers)
        engine.warm()  # starting its processes is not to be charged to the first items
        self._desk = Desk({str(engine.info.target): engine}, room=_UNBOUNDED, keep=0)
        self._numbers = itertools.count()

    async def judge(self, request: Request) -> Answer:
        """Queue one request and wait for its answer; an item whose caller has gone is taken back."""
        request = replace(request, id=f"{request.id} {next(self._numbers)}", target="")
        (job,) = self._desk.submit([request])
        try:
            return await asyncio.wrap_future(job.future)
        except asyncio.CancelledError:
            with suppress(Exception):
                self._desk.cancel(request.id)
            raise

    async def close(self) -> None:
        """End every process. Blocks the loop: at the end of a program no thread can be asked any more."""
        self._desk.close()
