"""Messages between engine, judge, zygote and runner: length-prefixed strict JSON with file descriptors beside it.

Nothing here unpickles, evaluates or trusts a length: a peer that speaks garbage gives `WireError`, never a crash.
"""

from __future__ import annotations

import array
import json
import socket
import struct
import time
from typing import Any

MAX_MESSAGE = 8 << 20
"""Largest message in bytes; more is refused before it is read."""
MAX_FDS = 16
_HEADER = struct.Struct("!I")


class WireError(Exception):
    """The peer sent something that is not a message: too long, cut off, not JSON, not an object, NaN."""


class WireClosed(WireError):
    """The peer closed the channel (or died)."""


class WireTimeout(WireError):
    """No whole message before the deadline."""


def _refuse(token: str) -> Any:
    raise WireError(f"{token} is not JSON")


def send(sock: socket.socket, message: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
    """Send one object, and descriptors with its first byte. Raises WireClosed when the peer is gone."""
    body = json.dumps(message, allow_nan=False, separators=(",", ":")).encode()
    if len(body) > MAX_MESSAGE:
        raise WireError(f"message of {len(body)} bytes is over the limit of {MAX_MESSAGE}")
    data = _HEADER.pack(len(body)) + body
    try:
        sent = socket.send_fds(sock, [data], list(fds)) if fds else 0
        if sent < len(data):
            sock.sendall(data[sent:])
    except (BrokenPipeError, ConnectionResetError) as error:
        raise WireClosed(f"channel closed while sending: {error}") from error
    except TimeoutError as error:
        raise WireTimeout("peer did not read the message in time") from error


def receive(sock: socket.socket, deadline: float | None = None) -> tuple[dict[str, Any], list[int]]:
    """Read one object and its descriptors; `deadline` is on `time.monotonic()`.

    Raises WireClosed at end of stream, WireTimeout at the deadline, WireError for anything malformed. Descriptors
    that came with a refused message are closed.
    """
    fds: list[int] = []
    try:
        (length,) = _HEADER.unpack(_read(sock, _HEADER.size, deadline, fds))
        if length > MAX_MESSAGE:
            raise WireError(f"peer announced a message of {length} bytes, the limit is {MAX_MESSAGE}")
        body = _read(sock, length, deadline, fds)
        try:
            message = json.loads(body, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise WireError(f"peer sent bytes that are not JSON: {body[:60]!r}") from error
        if not isinstance(message, dict):
            raise WireError(f"peer sent {type(message).__name__}, expected an object")
    except BaseException:
        close_all(fds)
        raise
    return message, fds


def _read(sock: socket.socket, size: int, deadline: float | None, fds: list[int]) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise WireTimeout("no whole message before the deadline")
            sock.settimeout(left)
        else:
            sock.settimeout(None)
        try:
            chunk = _receive_some(sock, min(size - len(parts), 1 << 20), fds)
        except TimeoutError as error:
            raise WireTimeout("no whole message before the deadline") from error
        except OSError as error:
            raise WireClosed(f"channel broke: {error}") from error
        if not chunk:
            raise WireClosed("peer closed the channel")
        parts += chunk
    return bytes(parts)


def _receive_some(sock: socket.socket, size: int, fds: list[int]) -> bytes:
    unit = array.array("i").itemsize
    data, ancillary, _, _ = sock.recvmsg(size, socket.CMSG_SPACE(MAX_FDS * unit), socket.MSG_CMSG_CLOEXEC)
    for level, kind, blob in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            got = array.array("i")
            got.frombytes(blob[: len(blob) - len(blob) % unit])
            fds.extend(got)
    if len(fds) > MAX_FDS:
        raise WireError(f"peer sent {len(fds)} descriptors with one message, the limit is {MAX_FDS}")
    return data


def close_all(fds: list[int]) -> None:
    """Close descriptors that nobody wants, once."""
    import os

    while fds:
        try:
            os.close(fds.pop())
        except OSError:
            pass
