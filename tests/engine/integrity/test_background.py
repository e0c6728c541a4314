"""What a runner's threads do after its last call, by the kernel's books."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from kengine.engine.accounts import find_processes, read_account
from kengine.engine.integrity import background
from kengine.errors import CandidateFault

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs /proc/PID/schedstat")

IDLE = "import sys; print('ready', flush=True); sys.stdin.read()"
BUSY = "print('ready', flush=True)\nwhile True: pass"
BUSY_THREAD = (
    "import sys, threading\ndef spin():\n    while True: pass\n"
    "threading.Thread(target=spin, daemon=True).start()\nprint('ready', flush=True)\nsys.stdin.read()"
)
CHILD = (
    "import subprocess, sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
    "p = subprocess.Popen([sys.executable, '-c', 'import sys; sys.stdin.read()'], stdin=subprocess.PIPE)\n"
    "print('more', flush=True)\nsys.stdin.read()\np.kill()"
)


@pytest.fixture
def start():
    made = []

    def begin(code):
        process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        made.append(process)
        assert process.stdout.readline() == "ready\n"
        return process

    yield begin
    for process in made:
        for pid in find_processes(process.pid) - {process.pid}:
            os.kill(pid, 9)
        process.kill()
        process.communicate()


def check(process, before, unjoined=frozenset()):
    execution = SimpleNamespace(runner=SimpleNamespace(pid=process.pid), processes=before, unjoined=unjoined)
    return background.idle(execution)


def test_a_process_that_waits_is_idle(start):
    process = start(IDLE)
    found = check(process, find_processes(process.pid))
    assert found.ran and found.ok and found.evidence.startswith("1 processes, ")


@pytest.mark.parametrize("code", [BUSY, BUSY_THREAD], ids=["process", "thread"])
def test_work_that_goes_on_is_noticed(start, code):
    process = start(code)
    found = check(process, find_processes(process.pid))
    assert found.ran and not found.ok and "goes on working after its call has returned" in found.evidence


def test_a_thread_that_waits_for_a_processor_counts_as_work(start, monkeypatch):
    """On a machine that gives it none, its time does not grow, and it is at work all the same."""
    from kengine.engine.accounts import Thread

    monkeypatch.setattr(background, "WATCH_S", (0.001, 0.001))
    monkeypatch.setattr(background, "read_account", lambda pid: {(pid, pid): Thread(0, True)})
    found = check(SimpleNamespace(pid=1), frozenset({1}))
    assert not found.ok and "waiting for a processor" in found.evidence
    turns = iter([Thread(0, True), Thread(5, False)] * 4)
    monkeypatch.setattr(background, "read_account", lambda pid: {(pid, pid): next(turns)})
    assert check(SimpleNamespace(pid=1), frozenset({1})).ok, "it was on its way to rest"


def test_a_process_that_is_left_is_noticed(start):
    process = start(CHILD)
    before = find_processes(process.pid)
    assert before == {process.pid}
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline() == "more\n"
    end = time.monotonic() + 10
    while len(find_processes(process.pid)) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    found = check(process, before)
    assert found.ran and not found.ok and found.evidence.startswith("1 processes that it started are still there")
    assert check(process, find_processes(process.pid)).ok, "it was there when the candidate was compiled"


def test_an_account_has_every_thread_of_every_process():
    found = read_account(os.getpid())
    assert (os.getpid(), os.getpid()) in found and found[os.getpid(), os.getpid()].worked_ns > 0
    assert read_account(2**22 + 1) == {}


def test_threads_that_take_turns_count_as_work(start, monkeypatch):
    """Of many that share one lock, none may be found at work twice in a row."""
    from kengine.engine.accounts import Thread

    monkeypatch.setattr(background, "WATCH_S", (0.001, 0.001))
    turns = iter([{(1, 1): Thread(0, n % 2 == 0), (1, 2): Thread(0, n % 2 == 1)} for n in range(4)])
    monkeypatch.setattr(background, "read_account", lambda pid: next(turns))
    found = check(SimpleNamespace(pid=1), frozenset({1}))
    assert not found.ok and "waiting for a processor" in found.evidence


def test_kernels_in_a_stream_that_is_not_joined(start):
    process = start(IDLE)
    found = check(process, find_processes(process.pid), {"twice", "spin"})
    assert found.ran and not found.ok
    assert found.evidence.startswith("spin, twice went on in a stream that its caller's stream does not wait for")


def test_of_a_process_that_has_ended_nothing_is_known(start):
    process = start(IDLE)
    before = find_processes(process.pid)
    assert check(process, before).ok
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet taken off the books
    for _ in range(2):
        with pytest.raises(CandidateFault, match="ended after its calls") as caught:
            check(process, before)
        assert caught.value.status == "crashed"
        process.wait()
