"""Judging by a server: calls that come together go in one request, and what gets lost on the way is sent again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from kengine import __version__, codec
from kengine.client.settings import Settings
from kengine.errors import InfraError, UsageError
from kengine.server.protocol import SCHEMAS, Answer, Batch, Health, Request

_LINGER_S = 0.002
_CONNECT_S = 15.0
_MARGIN_S = 0.5
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Unreachable(InfraError):
    """A server that was never reached, as opposed to one that was lost on the way."""


class Waiting:
    """One request and the future of whoever waits for it."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.sent = time.monotonic()
        self.future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()

    def as_sent(self) -> Request:
        """The request with the time that is left of its deadline."""
        spent = time.monotonic() - self.sent
        left = None if self.request.deadline_s is None else max(self.request.deadline_s - spent, 0.01)
        return replace(self.request, deadline_s=left)


class Remote:
    """Has a server judge; lives on one event loop."""

    def __init__(self, settings: Settings) -> None:
        try:
            import httpx
        except ImportError as error:
            raise UsageError("a server is reached through httpx: pip install 'kernel-engine[server]'") from error
        self._httpx = httpx
        self.url = settings.url.rstrip("/")
        self._target = settings.target or ""
        token = settings.token or os.environ.get("KENGINE_TOKEN", "")
        self._http = httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=httpx.Timeout(None, connect=10.0),
            limits=httpx.Limits(max_connections=256, max_keepalive_connections=64),
            trust_env=urlsplit(self.url).hostname not in _LOOPBACK,
        )
        self._health: Health | None = None
        self._greeting = asyncio.Lock()
        self._pending: list[Waiting] = []
        self._flushing: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()

    async def judge(self, request: Request) -> Answer:
        """Send one request, together with those that come at the same time, and wait for its answer.

        Raises Unreachable when the server was never there, UsageError when it is there and refuses (token, version,
        size). A server that is lost on the way is tried again until the caller stops waiting.
        """
        await self.greet()
        waiting = Waiting(replace(request, target=self._target))
        self._pending.append(waiting)
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.create_task(self._flush())
        return await waiting.future

    async def greet(self) -> Health:
        """Ask once what the server is. Raises Unreachable, and UsageError for one of another version."""
        async with self._greeting:
            if self._health is None:
                self._health = _check(await self._ask_health(), self.url)
            return self._health

    async def close(self) -> None:
        """Stop sending and close the connections."""
        for task in (*self._sending, *([self._flushing] if self._flushing else [])):
            task.cancel()
        await self._http.aclose()

    async def _ask_health(self) -> dict[str, Any]:
        end = time.monotonic() + _CONNECT_S
        while True:
            try:
                response = await self._http.get("/health", timeout=_CONNECT_S)
                found: Any = response.json()
                if isinstance(found, dict) and str(found.get("schema", "")).startswith("kengine.health/"):
                    return found
                problem = f"it answered {response.status_code} and is no kengine server"
            except (self._httpx.HTTPError, ValueError) as error:
                problem = f"{type(error).__name__}: {error}"
            if time.monotonic() > end:
                raise Unreachable(f"no kengine server at {self.url}: {problem}; start one with `kengine serve`")
            await asyncio.sleep(0.5)

    async def _flush(self) -> None:
        await asyncio.sleep(_LINGER_S)
        assert self._health is not None
        while self._pending:
            chunk, self._pending = self._pending[: self._health.max_batch], self._pending[self._health.max_batch :]
            task = asyncio.create_task(self._send(chunk))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, chunk: list[Waiting]) -> None:
        """Send until everybody has an answer or has gone."""
        pause = 0.1
        while chunk := [w for w in chunk if not w.future.done()]:
            try:
                wait = await self._post(chunk)
            except self._httpx.HTTPError:
                wait = None
            except _TooLarge as error:
                if len(chunk) > 1:
                    half = len(chunk) // 2
                    await asyncio.gather(self._send(chunk[:half]), self._send(chunk[half:]))
                    return
                _refuse(chunk, UsageError(str(error)))
            except Exception as error:
                _refuse(chunk, error)
            if any(not w.future.done() for w in chunk):
                await asyncio.sleep((pause if wait is None else wait) * random.uniform(0.7, 1.3))
                pause = min(pause * 2, 5.0)

    async def _post(self, chunk: list[Waiting]) -> float | None:
        """Send once. Returns the seconds after which to try again, None when that is not the server's to say."""
        batch = Batch(tuple(w.as_sent() for w in chunk))
        by_id = {w.request.id: w for w in chunk}
        longest = max((r.deadline_s or 600.0) for r in batch.requests) + _MARGIN_S
        headers = {"Content-Type": "application/json"}
        timeout = self._httpx.Timeout(longest, connect=10.0)
        async with self._http.stream(
            "POST", "/verify/batch", content=codec.dumps(batch), headers=headers, timeout=timeout
        ) as response:
            if response.status_code != 200:
                return _understand(response.status_code, await response.aread(), self.url)
            async for line in response.aiter_lines():
                if line:
                    answer = codec.loads(line, Answer)
                    waiting = by_id.get(answer.id)
                    if waiting is not None and not waiting.future.done():
                        waiting.future.set_result(answer)
        return None


class _TooLarge(Exception):
    pass


def _refuse(chunk: list[Waiting], error: Exception) -> None:
    for waiting in chunk:
        if not waiting.future.done():
            waiting.future.set_exception(error)


def _check(found: dict[str, Any], url: str) -> Health:
    theirs = found.get("schemas")
    theirs = theirs if isinstance(theirs, dict) else {}
    for name, mine in SCHEMAS.items():
        if theirs.get(name) != mine:
            raise UsageError(
                f"the server at {url} is kengine {found.get('kengine')} and speaks {theirs.get(name)!r}; this is "
                f"kengine {__version__} and speaks {mine!r}: install the same version on both"
            )
    return codec.from_json(found, Health)


def _understand(code: int, body: bytes, url: str) -> float | None:
    try:
        found = json.loads(body)
        message, wait = str(found["message"]), found.get("retry_after_s")
    except (ValueError, KeyError, TypeError):
        message, wait = body[:200].decode(errors="replace"), None
    if code == 401:
        raise UsageError(f"{url}: {message}; set KENGINE_TOKEN to the token that the server was started with")
    if code == 413:
        raise _TooLarge(f"{url}: {message}")
    if code in (429, 503):
        return float(wait) if isinstance(wait, (int, float)) else None
    if 400 <= code < 500:
        raise UsageError(f"{url} refused the request ({code}): {message}")
    return None
