"""The client against a real server on the loopback address, and against what goes wrong on the way."""

from __future__ import annotations

import socket
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI (pip install 'kernel-engine[server]')")
pytest.importorskip("httpx", reason="needs httpx (pip install 'kernel-engine[server]')")

from kengine import UsageError
from kengine.client import Client, DeadlineExceeded, Settings
from kengine.client import remote as remote_module
from kengine.client.client import KengineWarning
from kengine.server import app as app_module
from kengine.server.app import Door
from served import StubEngine, desk_of, running
from toy_items import GOOD, item


@pytest.fixture
def counted(monkeypatch):
    """Sizes of the batches that the server takes."""
    sizes = []
    read = app_module._lines

    def lines(jobs):
        sizes.append(len(jobs))
        return read(jobs)

    monkeypatch.setattr(app_module, "_lines", lines)
    return sizes


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def test_calls_that_come_together_go_together(counted):
    with running(desk_of(StubEngine(workers=4))) as url, Client(Settings(url=url)) as client:
        found = {}

        def ask(n):
            found[n] = client.judge([item(f"# {n}\n")])[0]

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(30)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert {n: v.candidate.main.text for n, v in found.items()} == {n: f"# {n}\n" for n in range(30)}
        assert sum(counted) == 30 and len(counted) < 20
        client.judge([item(f"# again {n}\n") for n in range(100)])
        assert max(counted) == 64 and sum(counted) == 130, "max_batch of the server"


def test_a_slow_item_does_not_hold_up_the_others():
    slow = StubEngine(workers=2, fail=lambda i: time.sleep(1.0) if "slow" in i.candidate.main.text else None)
    with running(desk_of(slow)) as url, Client(Settings(url=url)) as client:
        client.judge([item(GOOD)])
        begun = time.monotonic()
        done = {}

        def ask(text):
            client.judge([item(text)])
            done[text] = time.monotonic() - begun

        threads = [threading.Thread(target=ask, args=(text,)) for text in ("# slow\n", "# quick\n")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert done["# quick\n"] < 0.7 < done["# slow\n"], "they went in one request"


def test_a_full_queue_is_waited_for():
    engine = StubEngine(workers=2, delay_s=0.01)
    with running(desk_of(engine, room=8), Door(max_batch=4)) as url, Client(Settings(url=url)) as client:
        judged = client.judge([item(f"# {n}\n") for n in range(60)])
    assert [j.candidate.main.text for j in judged] == [f"# {n}\n" for n in range(60)]
    assert len(engine.seen) == 60


def test_a_queue_that_is_shorter_than_a_batch_is_worked_off_too():
    with running(desk_of(StubEngine(), room=3), Door(max_batch=64)) as url, Client(Settings(url=url)) as client:
        judged = client.judge([item(f"# {n}\n") for n in range(12)], deadline_s=20)
    assert [j.candidate.main.text for j in judged] == [f"# {n}\n" for n in range(12)]


def test_a_batch_that_is_too_large_is_split_and_an_item_that_is_too_large_is_named():
    door = Door(max_request_bytes=12_000)
    with running(desk_of(StubEngine()), door) as url, Client(Settings(url=url)) as client:
        assert len(client.judge([item(f"# {n}\n" + "#" * 1000) for n in range(30)])) == 30
        with pytest.raises(UsageError, match="a request may have 12000 bytes and this one has"):
            client.judge([item("#" * 20_000)])


def test_no_server(monkeypatch):
    monkeypatch.setattr(remote_module, "_CONNECT_S", 0.5)
    url = f"http://127.0.0.1:{free_port()}"
    said = f"no kengine server at {url}.*kengine serve"
    with Client(Settings(url=url)) as client, pytest.raises(remote_module.Unreachable, match=said):
        client.judge([item(GOOD)])


def test_something_else_is_listening(monkeypatch):
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"status": "ok"}')

        def log_message(self, *_):
            pass

    monkeypatch.setattr(remote_module, "_CONNECT_S", 0.2)
    other = HTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    try:
        with (
            Client(Settings(url=f"http://127.0.0.1:{other.server_port}")) as client,
            pytest.raises(remote_module.Unreachable, match="is no kengine server"),
        ):
            client.judge([item(GOOD)])
    finally:
        other.shutdown()
        other.server_close()


def test_a_server_of_another_version(monkeypatch):
    monkeypatch.setattr(app_module, "SCHEMAS", {**app_module.SCHEMAS, "Verdict": "kengine.verdict/2"})
    said = r"speaks 'kengine\.verdict/2'; this is kengine .* speaks 'kengine\.verdict/1'"
    with (
        running(desk_of(StubEngine())) as url,
        Client(Settings(url=url)) as client,
        pytest.raises(UsageError, match=said),
    ):
        client.judge([item(GOOD)])


def test_a_token_is_missing_wrong_or_right(monkeypatch):
    monkeypatch.delenv("KENGINE_TOKEN", raising=False)
    with running(desk_of(StubEngine()), Door(token="s3cret", grace_s=0.2)) as url:
        for token in ("", "other"):
            with Client(Settings(url=url, token=token)) as client, pytest.raises(UsageError, match="set KENGINE_TOKEN"):
                client.judge([item(GOOD)])
        with Client(Settings(url=url, token="s3cret")) as client:
            assert client.judge([item(GOOD)])[0].passed
        monkeypatch.setenv("KENGINE_TOKEN", "s3cret")
        with Client(Settings(url=url)) as client:
            assert client.judge([item(GOOD)])[0].passed


def test_a_server_that_is_slow_masks_the_sample():
    engine = StubEngine()
    engine.gate.clear()
    with running(desk_of(engine)) as url, Client(Settings(url=url, deadline_s=0.4)) as client:
        with pytest.warns(KengineWarning, match="masked"):
            (late,) = client.judge([item(GOOD)])
        engine.gate.set()
        assert isinstance(late, DeadlineExceeded)
        assert client.judge([item("# next\n")])[0].passed


def test_a_server_that_restarts_loses_nothing():
    port = free_port()
    first = StubEngine(workers=1)
    first.gate.clear()
    with Client(Settings(url=f"http://127.0.0.1:{port}", deadline_s=30)) as client:
        found = []
        with running(desk_of(first), port=port):
            asking = threading.Thread(target=lambda: found.extend(client.judge([item(f"# {n}\n") for n in range(6)])))
            asking.start()
            while not first.seen:
                time.sleep(0.01)
            threading.Timer(0.3, first.gate.set).start()
        second = StubEngine(workers=2)
        with running(desk_of(second), port=port):
            asking.join(25)
        assert [v.candidate.main.text for v in found] == [f"# {n}\n" for n in range(6)]
        assert len(second.seen) >= 5, "those that the first one had not judged"


def test_a_connection_that_breaks_does_not_have_it_judged_twice(monkeypatch):
    """The first answer gets lost on the way: the same id is asked for again, and the server remembers it."""
    engine = StubEngine()
    read, broken = app_module._lines, []

    async def lines(jobs):
        async for line in read(jobs):
            if not broken:
                broken.append(line)
                raise ConnectionResetError
            yield line

    monkeypatch.setattr(app_module, "_lines", lines)
    with running(desk_of(engine)) as url, Client(Settings(url=url)) as client:
        assert client.judge([item(GOOD)])[0].passed
    assert broken and len(engine.seen) == 1


def test_what_waits_is_sent_with_the_time_that_is_left(monkeypatch):
    import asyncio

    from served import request

    now = [100.0]
    monkeypatch.setattr(remote_module.time, "monotonic", lambda: now[0])

    async def main():
        waits = [remote_module.Waiting(request("a", deadline_s=each)) for each in (8.0, None)]
        found = []
        for now[0] in (103.0, 120.0):
            found.append([waiting.as_sent().deadline_s for waiting in waits])
        return found

    assert asyncio.run(main()) == [[5.0, None], [0.01, None]]


def test_a_server_of_this_machine_is_not_looked_for_behind_a_proxy(monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with running(desk_of(StubEngine())) as url, Client(Settings(url=url)) as client:
        assert client.judge([item(GOOD)])[0].passed


@pytest.mark.parametrize(
    ("code", "body", "result"),
    [
        (429, b'{"message": "full", "retry_after_s": 2.5}', 2.5),
        (503, b'{"message": "draining"}', None),
        (503, b"<html>bad gateway</html>", None),
        (500, b"", None),
        (401, b'{"message": "no token"}', "http://x: no token; set KENGINE_TOKEN to the token"),
        (404, b"<html>nothing</html>", r"http://x refused the request \(404\): <html>nothing"),
        (409, b'{"message": "another version"}', r"http://x refused the request \(409\): another version"),
    ],
)
def test_what_a_refusal_means(code, body, result):
    if not isinstance(result, str):
        assert remote_module._understand(code, body, "http://x") == result
        return
    with pytest.raises(UsageError, match=result):
        remote_module._understand(code, body, "http://x")


def test_a_client_that_was_not_greeted_leaves_no_connection(monkeypatch):
    closed = []

    async def refuse(self):
        raise UsageError("another version")

    inner = remote_module.Remote.close

    async def close(self):
        closed.append(self)
        await inner(self)

    monkeypatch.setattr(remote_module.Remote, "greet", refuse)
    monkeypatch.setattr(remote_module.Remote, "close", close)
    with Client(Settings(url="http://127.0.0.1:1")) as client:
        for n in (1, 2):
            with pytest.raises(UsageError, match="another version"):
                client.judge([item(GOOD)])
            assert len(closed) == n


def test_an_answer_that_comes_twice_is_taken_once(monkeypatch):
    read = app_module._lines

    async def lines(jobs):
        async for line in read(jobs):
            yield line
            yield line

    monkeypatch.setattr(app_module, "_lines", lines)
    with running(desk_of(StubEngine())) as url, Client(Settings(url=url)) as client:
        judged = client.judge([item(f"# {n}\n") for n in range(4)])
    assert [j.candidate.main.text for j in judged] == [f"# {n}\n" for n in range(4)]
