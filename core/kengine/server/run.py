"""Runs a server until it is told to end: the socket, the signals and the order of the shutdown."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from kengine.errors import UsageError
from kengine.server.app import Door, create_app
from kengine.server.desk import Desk
from kengine.server.gate import LOOPBACK
from kengine.server.metrics import Metrics


def serve(desk: Desk, metrics: Metrics, host: str, port: int, door: Door, say: Callable[[str], None]) -> None:
    """Serve a desk until SIGINT or SIGTERM, then let what is being judged end within `door.grace_s`.

    port 0 takes a free one. say: told the address once requests are taken. Raises UsageError for a port that is in use
    and for an address that others can reach without a token.
    """
    if host not in LOOPBACK and not door.token:
        raise UsageError(
            f"--host {host} can be reached from other machines: set KENGINE_TOKEN or give --token-file, so that only "
            "those who know the token have code run here"
        )
    listener = listen(host, port)
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        create_app(desk, metrics, door), log_config=None, access_log=False, lifespan="on", ws="none",
        timeout_graceful_shutdown=max(1, round(door.grace_s)), server_header=False,
    )  # fmt: skip
    server = uvicorn.Server(config)
    watcher = threading.Thread(
        target=_watch, args=(server, desk, lambda: say(f"http://{shown}:{bound}")), name="kengine-serve", daemon=True
    )
    with listener:
        watcher.start()
        server.run(sockets=[listener])


def _watch(server: uvicorn.Server, desk: Desk, started: Callable[[], None]) -> None:
    """Tell when the port is open, and drain the desk with the first signal, so that nobody waits for a request that
    will not be judged any more: uvicorn closes the application only when every answer has been sent."""
    told = False
    while not server.should_exit:
        if server.started and not told:
            told = True
            with suppress(OSError):  # nobody reads what is said
                started()
        time.sleep(0.02)
    desk.drain()


def listen(host: str, port: int) -> socket.socket:
    """A socket that takes connections there; port 0 takes a free one. Raises UsageError for a port that is in use."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, since asyncio turns Nagle's algorithm off only then; with it each answer waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port") from error
    listener.listen(2048)
    return listener
