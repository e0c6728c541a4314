"""One question to an endpoint of OpenAI's protocol. Whatever goes wrong there is no opinion, never an exception."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kengine.model import Opinion
from kengine.opinion import answer
from kengine.opinion.question import SCHEMA

if TYPE_CHECKING:
    import httpx

    from kengine.config import OpinionSettings

MAX_BYTES = 4 << 20
"""Largest reply that is read."""

_FORMAT = {"type": "json_schema", "json_schema": {"name": "opinion", "strict": True, "schema": SCHEMA}}
_PAUSE_S = 0.5


@dataclass(frozen=True)
class _Reply:
    """status: of HTTP, 0 when there was no whole reply, and then `problem` says why."""

    status: int
    body: bytes = b""
    retry_after: str = ""
    problem: str = ""


def ask(messages: list[dict[str, str]], settings: OpinionSettings) -> Opinion:
    """Ask until there is an answer, an answer that no repetition changes, or no time or retry left.

    Holds no state: threads and forks do not matter.
    """
    deadline = time.monotonic() + settings.timeout_s
    request: dict[str, Any] = {**_thaw(settings.options), "model": settings.model, "messages": messages}
    request["response_format"] = _FORMAT
    attempt = 0
    while True:
        reply = _send(request, settings, deadline)
        if reply.status == 200:
            return answer.read(reply.body, settings.model)
        if reply.status in (400, 422) and "response_format" in request:
            # Not every server knows schemas; the answer is checked here either way.
            del request["response_format"]
            continue
        pause = _pause(reply, attempt)
        attempt += 1
        again = reply.status in (0, 408, 409, 425, 429) or reply.status >= 500
        if not again or attempt > settings.retries or time.monotonic() + pause >= deadline:
            return Opinion(None, _describe(reply, settings, attempt), settings.model)
        time.sleep(pause)


def _send(request: Mapping[str, Any], settings: OpinionSettings, deadline: float) -> _Reply:
    import httpx

    left = deadline - time.monotonic()
    if left <= 0:
        return _Reply(0, problem=f"no answer within {settings.timeout_s:g} s")
    key = os.environ.get(settings.key_env, "").strip()
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        # No redirect is followed: it would carry code and key to a place that nobody named.
        with httpx.stream("POST", _address(settings.url), json=request, headers=headers, timeout=left) as response:
            return _receive(response, settings, deadline)
    except httpx.TimeoutException:
        return _Reply(0, problem=f"no answer within {settings.timeout_s:g} s")
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, OSError) as error:
        # The text of some errors quotes headers, so only the kind is said.
        return _Reply(0, problem=f"the endpoint cannot be asked ({type(error).__name__})")


def _receive(response: httpx.Response, settings: OpinionSettings, deadline: float) -> _Reply:
    body = bytearray()
    for chunk in response.iter_bytes():
        body += chunk
        if len(body) > MAX_BYTES:
            return _Reply(0, problem=f"the reply is longer than {MAX_BYTES:,} bytes")
        if time.monotonic() > deadline:
            return _Reply(0, problem=f"no answer within {settings.timeout_s:g} s")
    return _Reply(response.status_code, bytes(body), response.headers.get("retry-after", ""))


def _address(url: str) -> str:
    url = url.rstrip("/")
    return url if url.endswith("/chat/completions") else f"{url}/chat/completions"


def _pause(reply: _Reply, attempt: int) -> float:
    """Seconds until the next attempt: what the server asks for, else longer each time."""
    try:
        asked = float(reply.retry_after)
    except ValueError:
        asked = 0.0
    return asked if 0 < asked < float("inf") else _PAUSE_S * 2.0**attempt


def _describe(reply: _Reply, settings: OpinionSettings, attempts: int) -> str:
    if reply.problem:
        return reply.problem
    hints = {401: f"check the key in {settings.key_env}", 403: f"check the key in {settings.key_env}",
             404: "check url and model", 429: "rate limit"}  # fmt: skip
    hint = f"; {hints[reply.status]}" if reply.status in hints else ""
    tries = f" after {attempts} attempts" if attempts > 1 else ""
    return f"the endpoint answered {reply.status}{tries}{hint}"


def _thaw(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _thaw(item) for key, item in value.items()}
    return [_thaw(item) for item in value] if isinstance(value, tuple) else value
