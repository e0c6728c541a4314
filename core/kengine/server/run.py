"""Runs a server until it is told to end: the socket, the signals and the order of the shutdown."""

from __future__ import annotations

import socket
from collections.abc import Callable
from types import FrameType

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
    listener = _listen(host, port)
    bound = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        create_app(desk, metrics, door), log_config=None, access_log=False, lifespan="on", ws="none",
        timeout_graceful_shutdown=max(1, round(door.grace_s)), server_header=False,
    )  # fmt: skip
    server = _Server(config, desk, lambda: say(f"http://{shown}:{bound}"))
    with listener:
        server.run(sockets=[listener])


class _Server(uvicorn.Server):
    """Drains the desk with the first signal, so that nobody waits for a request that will not be judged any more."""

    def __init__(self, config: uvicorn.Config, desk: Desk, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._desk = desk
        self._started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Tell the address when the port is open."""
        await super().startup(sockets)
        if not self.should_exit:
            self._started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal: the second one ends the server at once."""
        import threading

        # A signal may arrive while this very thread holds the desk's lock.
        threading.Thread(target=self._desk.drain, name="kengine-drain", daemon=True).start()
        super().handle_exit(sig, frame)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise UsageError(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another --port") from error
    listener.listen(2048)
    return listener
