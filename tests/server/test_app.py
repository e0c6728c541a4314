"""The HTTP face: status codes, limits and forms of the answers."""

# ruff: noqa: E402
from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI (pip install 'kernel-engine[server]')")
httpx = pytest.importorskip("httpx", reason="needs httpx (pip install 'kernel-engine[server]')")

from kengine import InfraError, Verdict, codec
from kengine.server.app import Door, create_app
from kengine.server.gate import LOOPBACK
from kengine.server.metrics import Metrics
from kengine.server.protocol import Answer, Batch, Health, JobState, Request
from served import StubEngine, desk_of, request
from toy_items import GOOD, TASK

JSON = {"content-type": "application/json"}


@pytest.fixture
def call():
    """Call an application over an engine that judges nothing: call(method, path, body, ..., engine=, door=, queue=)."""
    desks = []

    def make(method, path, body=b"", headers=JSON, engine=None, door=None, desk=None, **options):
        metrics = Metrics()
        if desk is None:
            desk = desk_of(engine or StubEngine(), observe=metrics.observe, **options)
            desks.append((desk, engine))
        app = create_app(desk, metrics, door)

        async def ask():
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return await client.request(method, path, content=body, headers=headers)

        return asyncio.run(ask())

    yield make
    for desk, engine in desks:
        if engine is not None:
            engine.gate.set()
        desk.close()


def test_a_verdict(call):
    answer = codec.loads(call("POST", "/verify", codec.dumps(request("a"))).content, Answer)
    assert answer.id == "a" and answer.verdict.status == "passed" and answer.verdict.candidate.main.text == GOOD


def test_texts_are_taken_too(call):
    body = codec.dumps(Request("t", candidate_text=GOOD, task_text=TASK))
    answer = codec.loads(call("POST", "/verify", body).content, Answer)
    assert answer.verdict.candidate.entry == "candidate" and answer.verdict.task.source == TASK


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[]", 400, "want an object"),
        (b"{}", 400, "missing key 'schema', want 'kengine.request/1'"),
        (b'{"schema":"kengine.request/1"}', 400, "Request.id: missing"),
        (b'{"schema":"kengine.request/1","id":"a","idd":1}', 400, "idd"),
        (b'{"schema":"kengine.request/2","id":"a"}', 409, "client and server must be of one version"),
        (b'{"schema":"kengine.request/1","id":"a"}', 422, "no task"),
        (b'{"schema":"kengine.request/1","id":"a","task_text":"def f(:"}', 422, "task.py:1"),
    ],
)
def test_what_cannot_be_read(call, body, code, said):
    response = call("POST", "/verify", body)
    assert response.status_code == code, response.text
    assert said in response.json()["message"]


def test_a_failed_machine_is_a_503_and_no_verdict(call):
    response = call("POST", "/verify", codec.dumps(request("a")), engine=StubEngine(fail=lambda _: InfraError("gone")))
    assert response.status_code == 503
    assert codec.loads(response.content, Answer) == Answer("a", error="InfraError", message="gone")


def test_a_deadline_is_a_504(call):
    engine = StubEngine()
    engine.gate.clear()
    response = call("POST", "/verify", codec.dumps(request("a", deadline_s=0.05)), engine=engine)
    assert response.status_code == 504 and response.json()["error"] == "DeadlineExceeded"


def test_a_batch_is_answered_line_by_line(call):
    batch = Batch((*(request(n, f"# {n}\n") for n in range(5)), request(0, "# 0\n")))
    response = call("POST", "/verify/batch", codec.dumps(batch), engine=StubEngine(workers=2))
    assert response.headers["content-type"] == "application/x-ndjson"
    answers = [codec.loads(line, Answer) for line in response.text.splitlines()]
    assert sorted(a.id for a in answers) == ["0", "1", "2", "3", "4"], "the repeated one once"
    assert all(a.verdict.candidate.main.text == f"# {a.id}\n" for a in answers)


def test_a_batch_that_is_too_long(call):
    response = call("POST", "/verify/batch", codec.dumps(Batch((request(0), request(1)))), door=Door(max_batch=1))
    assert response.status_code == 400 and "2 requests in one batch, at most 1" in response.json()["message"]


def test_a_batch_that_could_never_wait(call):
    response = call("POST", "/verify/batch", codec.dumps(Batch((request(0), request(1)))), room=1)
    assert response.status_code == 400 and "2 requests in one batch, at most 1" in response.json()["message"]
    assert codec.loads(call("GET", "/health", room=1).content, Health).max_batch == 1


def test_a_full_queue_says_when_to_come_again(call):
    engine = StubEngine()
    engine.gate.clear()
    desk = desk_of(engine, room=1)
    desk.submit([request(0), ])
    while desk.load() != (0, 1):
        pass
    desk.submit([request(1)])
    response = call("POST", "/verify", codec.dumps(request(2)), desk=desk)
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) >= 1 and response.json()["retry_after_s"] > 0
    engine.gate.set()
    desk.close()


def test_jobs(call):
    engine = StubEngine()
    engine.gate.clear()
    desk = desk_of(engine)
    first = call("POST", "/jobs", codec.dumps(request("a")), desk=desk)
    assert first.status_code == 202
    call("POST", "/jobs", codec.dumps(request("b")), desk=desk)
    while desk.load() != (1, 1):
        pass
    states = {id: codec.loads(call("GET", f"/jobs/{id}", desk=desk).content, JobState) for id in "ab"}
    assert [states[id].status for id in "ab"] == ["running", "queued"] and states["a"].answer is None
    assert call("DELETE", "/jobs/b", desk=desk).status_code == 200
    assert call("DELETE", "/jobs/a", desk=desk).status_code == 409
    assert call("GET", "/jobs/none", desk=desk).status_code == 404
    assert call("DELETE", "/jobs/none", desk=desk).status_code == 404
    engine.gate.set()
    desk.find("a").future.result(5)
    done = codec.loads(call("GET", "/jobs/a", desk=desk).content, JobState)
    assert done.status == "done" and isinstance(done.answer.verdict, Verdict)
    assert codec.loads(call("GET", "/jobs/b", desk=desk).content, JobState).answer.error == "Cancelled"
    desk.close()


def test_health_holds_no_secret(call):
    response = call("GET", "/health", headers={}, engine=StubEngine(workers=3), room=7)
    health = codec.loads(response.content, Health)
    assert (health.status, health.queue, health.queued, health.running) == ("ready", 7, 0, 0)
    assert health.schemas["Verdict"] == "kengine.verdict/1"
    (served,) = health.targets
    assert (str(served.target), served.emulated, served.workers, served.plan.salt) == ("toy:cpu", True, 3, "")


def test_a_server_that_is_being_shut_down(call):
    desk = desk_of(StubEngine())
    desk.drain()
    health = call("GET", "/health", desk=desk)
    assert health.status_code == 503 and health.json()["status"] == "draining"
    response = call("POST", "/verify", codec.dumps(request("a")), desk=desk)
    assert response.status_code == 503 and response.json()["error"] == "Draining" and response.headers["retry-after"]
    desk.close()


def test_metrics(call):
    metrics = Metrics()
    desk = desk_of(StubEngine(fail=lambda i: InfraError("x") if "bad" in i.candidate.main.text else None),
                   observe=metrics.observe)
    for n, text in enumerate(("# good\n", "# good\n", "# bad\n")):
        desk.submit([request(n, text)])[0].future.result(5)
    text = metrics.text(desk).decode()
    desk.close()
    assert 'kengine_verdicts_total{status="passed",target="toy:cpu"} 2.0' in text
    assert 'kengine_errors_total{error="InfraError"} 1.0' in text
    assert "kengine_queue_seconds_count 3.0" in text and 'kengine_workers{target="toy:cpu"} 1.0' in text
    assert "# TYPE kengine_judging_seconds histogram" in text
    assert call("GET", "/metrics", headers={}).headers["content-type"].startswith("text/plain; version=0.0.4")


@pytest.mark.parametrize("path", ["/verify", "/verify/batch", "/jobs"])
def test_only_those_with_the_token(call, path):
    door = Door(token="s3cret")
    for headers in (JSON, {**JSON, "authorization": "Bearer other"}, {**JSON, "authorization": "s3cret"}):
        response = call("POST", path, b"{}", headers, door=door)
        assert response.status_code == 401 and response.headers["www-authenticate"] == "Bearer"
        assert "s3cret" not in response.text
    assert call("POST", path, b"{}", {**JSON, "authorization": "Bearer s3cret"}, door=door).status_code == 400


def test_metrics_need_the_token_and_health_does_not(call):
    door = Door(token="s3cret")
    assert call("GET", "/metrics", door=door).status_code == 401
    assert call("GET", "/health", door=door).status_code == 200


def test_a_web_page_cannot_reach_it(call):
    door = Door(hosts=LOOPBACK)
    assert call("POST", "/verify", b"{}", {"content-type": "text/plain"}, door=door).status_code == 415
    assert call("GET", "/health", headers={"host": "evil.example:8471"}, door=door).status_code == 403
    assert call("GET", "/health", headers={"host": "localhost:8471"}, door=door).status_code == 200


@pytest.mark.parametrize("chunked", [False, True])
def test_a_request_that_is_too_large(call, chunked):
    body = b"x" * 3000

    async def parts():
        for at in range(0, len(body), 500):
            yield body[at : at + 500]

    response = call("POST", "/verify", parts() if chunked else body, door=Door(max_request_bytes=1000))
    assert response.status_code == 413
    assert "may have 1000 bytes" in json.loads(response.text)["message"]


@pytest.mark.parametrize(("length", "code"), [("100", 413), ("99", 200), ("-1", 200), ("many", 200)])
def test_what_says_that_it_is_too_large_is_not_even_read(length, code):
    from kengine.server.gate import Gate

    sent, read = [], []

    async def inner(scope, receive, send):
        read.append(await receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def receive():
        return {"type": "http.request", "body": b"{}"}

    async def send(message):
        sent.append(message)

    headers = [(b"content-type", b"application/json"), (b"content-length", length.encode())]
    scope = {"type": "http", "method": "POST", "path": "/verify", "headers": headers}
    asyncio.run(Gate(inner, "", frozenset(), 99)(scope, receive, send))
    assert sent[0]["status"] == code and len(read) == (code == 200)


def test_what_is_no_request_goes_through_the_gate():
    from kengine.server.gate import Gate

    seen = []

    async def inner(scope, receive, send):
        seen.append(scope)

    asyncio.run(Gate(inner, "s3cret", frozenset({"localhost"}), 9)({"type": "lifespan"}, None, None))
    assert seen == [{"type": "lifespan"}]


def test_large_bodies_are_read_on_a_thread_and_others_at_once(call, monkeypatch):
    import threading

    from kengine.server import app

    threads, loads = [], codec.loads
    monkeypatch.setattr(
        app.codec, "loads", lambda *given: threads.append(threading.current_thread().name) or loads(*given)
    )
    body = codec.dumps(request("a"))
    for limit in (len(body) + 1, len(body)):
        monkeypatch.setattr(app, "_LARGE", limit)
        assert call("POST", "/verify", body).status_code == 200
    assert threads[0] == "MainThread" != threads[1]


def test_refusals_are_counted(call):
    metrics = Metrics()
    engine = StubEngine()
    engine.gate.clear()
    desk = desk_of(engine, room=1)
    desk.submit([request(0)])
    while desk.load() != (0, 1):
        pass
    desk.submit([request(1)])
    transport = httpx.ASGITransport(create_app(desk, metrics, None))

    async def ask():
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request("POST", "/verify", content=codec.dumps(request(2)), headers=JSON)

    assert asyncio.run(ask()).status_code == 429
    assert "kengine_refused_total 1.0" in metrics.text(desk).decode()
    engine.gate.set()
    desk.close()


def test_an_answer_for_a_server_that_has_ended_is_dropped():
    from kengine.server.app import _tell

    loop = asyncio.new_event_loop()
    loop.close()
    _tell(loop, asyncio.Queue(), Answer("a"))


def test_the_desk_is_closed_with_the_application():
    engine = StubEngine()
    app = create_app(desk_of(engine), Metrics(), Door(grace_s=0.1))

    async def live():
        async with app.router.lifespan_context(app):
            assert not engine.closed

    asyncio.run(live())
    assert engine.closed


def test_only_what_was_judged_counts_as_judging():
    metrics, engine = Metrics(), StubEngine()
    engine.gate.clear()
    desk = desk_of(engine, observe=metrics.observe)
    desk.submit([request(0)])
    while desk.load() != (0, 1):
        pass
    desk.submit([request(1)])
    assert desk.cancel("1")
    text = metrics.text(desk).decode()
    assert "kengine_queue_seconds_count 1.0" in text and "kengine_judging_seconds_count 0.0" in text
    assert 'kengine_errors_total{error="Cancelled"} 1.0' in text and "kengine_running 1.0" in text
    engine.gate.set()
    desk.find("0").future.result(5)
    desk.close()
    assert "kengine_judging_seconds_count 1.0" in metrics.text(desk).decode()
