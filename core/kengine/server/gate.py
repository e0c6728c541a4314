"""The door of the server: who may come in, and how much they may bring."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

ERROR_SCHEMA = "kengine.error/1"
_OPEN = frozenset({"/health"})
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1", "[::1]"})


class TooLarge(Exception):
    """A body that grew beyond the limit while it was read."""


class Gate:
    """Refuses a request before it is read: no or a wrong token (401), another host's name (403), not JSON (415), too
    large (413).

    token: "" lets everybody in, which only a server on a loopback address does. hosts: names that the header Host may
    hold, so that no web page can reach the server under a name of its own; empty takes all. Answers are objects with
    `schema`, `error` and `message`.
    """

    def __init__(self, app: App, token: str, hosts: frozenset[str], max_bytes: int) -> None:
        self.app = app
        self.hosts = hosts
        self.max_bytes = max_bytes
        self._secret = f"Bearer {token}".encode() if token else b""

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        refusal = self._refuse(scope, headers)
        if refusal is not None:
            await _answer(send, *refusal)
            return
        left = self.max_bytes

        async def measured() -> Message:
            nonlocal left
            message = await receive()
            left -= len(message.get("body", b""))
            if left < 0:
                raise TooLarge
            return message

        try:
            await self.app(scope, measured, send)
        except TooLarge:
            await _answer(send, 413, "RequestTooLarge", self._too_large())

    def _refuse(self, scope: Message, headers: dict[bytes, bytes]) -> tuple[int, str, str] | None:
        host = headers.get(b"host", b"").decode("latin-1").rsplit(":", 1)[0]
        if self.hosts and host not in self.hosts:
            return 403, "Forbidden", f"the header Host names {host!r}; this server answers to {', '.join(self.hosts)}"
        if self._secret and scope["path"] not in _OPEN:
            given = headers.get(b"authorization")
            if given is None:
                return 401, "Unauthorized", "no token: send the header 'Authorization: Bearer TOKEN'"
            if not hmac.compare_digest(given, self._secret):
                return 401, "Unauthorized", "the token is not this server's"
        if scope["method"] == "POST":
            kind = headers.get(b"content-type", b"").split(b";")[0].strip().lower()
            if kind != b"application/json":
                return 415, "NotJson", f"Content-Type is {kind.decode('latin-1')!r}, want 'application/json'"
            length = headers.get(b"content-length", b"0")
            if length.isdigit() and int(length) > self.max_bytes:
                return 413, "RequestTooLarge", self._too_large(int(length))
        return None

    def _too_large(self, size: int | None = None) -> str:
        had = "" if size is None else f" and this one has {size}"
        return f"a request may have {self.max_bytes} bytes{had}; send fewer candidates, or raise --max-request-mb"


async def _answer(send: Send, status: int, error: str, message: str) -> None:
    body = json.dumps({"schema": ERROR_SCHEMA, "error": error, "message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
