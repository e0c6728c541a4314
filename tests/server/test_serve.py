"""`kengine serve` as a process of its own: start, verdicts, and an end that loses nothing."""

# ruff: noqa: E402
from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="needs FastAPI (pip install 'kernel-engine[server]')")
httpx = pytest.importorskip("httpx", reason="needs httpx (pip install 'kernel-engine[server]')")

from kengine import codec
from kengine.server.protocol import Answer
from served import request
from toy_items import candidate, descendants, settled

JSON = {"content-type": "application/json"}


def start(*arguments, **environment):
    command = [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}; from kengine.cli import main; main()"]
    return subprocess.Popen(
        [*command, "serve", "--target", "toy:cpu", "--cases", "1", "--jobs", "1", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("KENGINE_")}, **environment},
    )  # fmt: skip


@pytest.fixture
def served():
    """Start a server and return (process, address); it is ended in any case."""
    begun = []
    before = len(descendants())

    def begin(*arguments, **environment):
        process = start("--port", "0", *arguments, **environment)
        begun.append(process)
        line = process.stdout.readline()
        assert line.startswith("serving toy:cpu on http://"), line + process.stderr.read()
        return process, line.split()[-1]

    yield begin
    for process in begun:
        if process.poll() is None:
            process.terminate()  # not killed: its folder under the temporary one is to go with it
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
    assert settled(before)


def test_it_judges_and_ends_cleanly(served):
    process, url = served()
    response = httpx.post(f"{url}/verify", content=codec.dumps(request("a")), headers=JSON, timeout=60)
    assert codec.loads(response.content, Answer).verdict.status == "passed"
    assert 'kengine_verdicts_total{status="passed",target="toy:cpu"} 1.0' in httpx.get(f"{url}/metrics").text
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (0, "", "")


def test_what_is_being_judged_may_end_and_what_waits_is_told(served):
    process, url = served()
    slow = candidate("import time; time.sleep(1.5)")
    answers = {}

    def ask(id):
        body = codec.dumps(request(id, slow + f"# {id}\n"))
        answers[id] = httpx.post(f"{url}/verify", content=body, headers=JSON, timeout=60)

    threads = [threading.Thread(target=ask, args=(id,)) for id in "ab"]
    for thread in threads:
        thread.start()
        time.sleep(0.4)
    process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join(30)
    assert codec.loads(answers["a"].content, Answer).verdict.status == "passed"
    assert answers["b"].status_code == 503 and codec.loads(answers["b"].content, Answer).error == "Draining"
    assert process.wait(20) == 0


def test_the_token_comes_from_environment_or_file(served, tmp_path):
    (tmp_path / "token").write_text("from-file\n")
    for arguments, environment, token in [
        ((), {"KENGINE_TOKEN": "from-environment"}, "from-environment"),
        (("--token-file", str(tmp_path / "token")), {}, "from-file"),
    ]:
        _, url = served(*arguments, **environment)
        assert httpx.get(f"{url}/metrics").status_code == 401
        assert httpx.get(f"{url}/metrics", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_answers_do_not_wait_for_an_acknowledgement():
    """Nagle's algorithm must be off for accepted connections: it costs 40 ms an answer, on loopback too."""
    import asyncio

    from kengine.server.run import listen

    def nodelay(writer):
        return writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    async def seen():
        found = []
        with listen("127.0.0.1", 0) as listener:
            server = await asyncio.start_server(lambda _, w: found.append(nodelay(w)), sock=listener)
            _, writer = await asyncio.open_connection(*listener.getsockname())
            while not found:
                await asyncio.sleep(0.01)
            writer.close()
            server.close()
        return found[0]

    assert asyncio.run(seen()) != 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0", "--port", "0"], "can be reached from other machines: set KENGINE_TOKEN"),
        (["--token-file", "/nowhere"], "--token-file /nowhere: cannot be read"),
        (["--time"], "toy:cpu is an emulator"),
    ],
)
def test_what_is_refused(arguments, said):
    process = start(*arguments)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and said in err and "Traceback" not in err


def test_a_port_that_is_taken():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        process = start("--port", str(port))
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and f"cannot listen on 127.0.0.1:{port}" in err
