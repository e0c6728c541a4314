"""An endpoint of OpenAI's protocol on this machine, for tests: answers as it is told and keeps what it was asked."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """One reply: status, the model's text (or a whole body), headers, and seconds to wait before it."""

    text: str | None = None
    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    wait_s: float = 0.0
    finish: str | None = "stop"
    refusal: str | None = None

    def bytes(self) -> bytes:
        if self.body is not None:
            return self.body
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        if self.refusal is not None:
            message["refusal"] = self.refusal
        return json.dumps({"choices": [{"message": message, "finish_reason": self.finish}]}).encode()


def says(genuine: Any, reason: Any = "because") -> Answer:
    """The answer that is asked for."""
    return Answer(json.dumps({"genuine": genuine, "reason": reason}))


class ChatServer:
    """url, and for each request its path, headers and body. The last of `answers` is repeated."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answers: list[Answer] = []
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.lock = threading.Lock()
        self.ended = threading.Event()

    def next(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> Answer:
        with self.lock:
            self.requests.append((path, headers, body))
            return self.answers[min(len(self.requests), len(self.answers)) - 1]

    @property
    def document(self) -> dict[str, Any]:
        """What the last request quotes."""
        return json.loads(self.requests[-1][2]["messages"][1]["content"])


@contextmanager
def chat_server():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["Content-Length"])
            body = json.loads(self.rfile.read(size))
            answer = chat.next(self.path, {k.lower(): v for k, v in self.headers.items()}, body)
            deadline = time.monotonic() + answer.wait_s
            while time.monotonic() < deadline and not chat.ended.is_set():
                time.sleep(0.01)
            try:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.bytes())
            except OSError:
                pass

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    chat = ChatServer(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield chat
    finally:
        chat.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()
