"""How a runner's death and a runner's words are read."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress

import pytest
from kengine import wire
from kengine.engine.drain import Drain
from kengine.engine.runner import Runner, describe_death, read_fault
from kengine.engine.zygote import Recipe
from kengine.errors import CandidateFault, DeadlineExceeded, WorkerLost


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (11, "", ("crashed", "the process was killed by SIGSEGV during 'launch'")),
        (9, "", ("crashed", "the process was killed by SIGKILL during 'launch'")),
        (24, "a limit", ("timed_out", "it used up its processor time during 'launch' (a limit)")),
        (14, "", ("timed_out", "an alarm ended the process during 'launch'")),
        (0, "", ("crashed", "the process ended by itself with exit code 0 during 'launch'")),
        (3 << 8, "", ("crashed", "the process ended by itself with exit code 3 during 'launch'")),
    ],
)
def test_death(status, reason, expected):
    assert describe_death(status, "launch", reason) == expected


def test_a_fault_is_read():
    fault = read_fault({"status": "launch_failed", "message": "boom", "log": "trace", "line": 7})
    assert (fault.status, fault.message, fault.log, fault.line) == ("launch_failed", "boom", "trace", 7)


@pytest.mark.parametrize(
    "lie",
    [
        None,
        [],
        {"message": 3},
        {"status": "passed", "message": "all fine"},
        {"status": "too_slow", "message": "m"},
        {"status": "infra", "message": "not my fault"},
        {"status": "nonsense", "message": "m"},
        {"status": ["crashed"], "message": "m"},
        {"status": "crashed", "message": "m", "line": True},
        {"status": "crashed", "message": "m", "log": 5},
    ],
)
def test_a_fault_that_no_runner_may_report_is_tampering(lie):
    assert read_fault(lie).status == "tampered"


def test_long_words_are_cut():
    fault = read_fault({"status": "crashed", "message": "m" * 10_000, "log": "l" * 100_000, "line": -4})
    assert (len(fault.message), len(fault.log), fault.line) == (4000, 60_000, 0)


class Zygote:
    """A zygote whose fork is a thread of this process: `answer` gets each request and says what comes back."""

    generation = 1
    recipe = Recipe("runner", "toy:cpu")

    def __init__(self, answer, exited=False, status=0):
        self.answer, self.exited, self.status = answer, exited, status
        self.asked = []

    def ask(self, message, fds):
        theirs = socket.socket(fileno=os.dup(fds[0]))
        self.thread = threading.Thread(target=self.serve, args=(theirs,), daemon=True)
        self.thread.start()
        return {"ok": True, "pid": 4}

    def ask_running(self, generation, message):
        self.asked.append(message["op"])
        return {"ok": True, "exited": self.exited, "status": self.status}

    def serve(self, sock):
        with sock:
            wire.send(sock, {"op": "ready", "sandbox": ["walls"]})
            while True:
                try:
                    request, _ = wire.receive(sock)
                except wire.WireError:
                    return
                reply = self.answer(request)
                if reply is None:
                    return
                with suppress(wire.WireError, OSError):  # the other end may have given up
                    if isinstance(reply, bytes):
                        sock.sendall(reply)
                    else:
                        wire.send(sock, reply)


@pytest.fixture
def start():
    """A function that makes a runner of a function from request to reply (None: close; bytes: as they are)."""
    drain = Drain()
    made = []

    def begin(answer, limits=None, **zygote):
        runner = Runner(Zygote(answer, **zygote), drain, "r1", "runner", limits, "/nowhere")
        made.append(runner)
        runner.wait_ready()
        return runner

    yield begin
    for runner in made:
        runner.kill()
        runner._zygote.thread.join(timeout=5)
    drain.close()


def honest(request):
    return {"n": request["n"], "ok": True, "op": request["op"]}


def test_an_answer_is_that_to_its_question(start):
    runner = start(honest)
    assert runner.sandbox == ("walls",)
    assert [runner.request(op, {}, 5.0)["op"] for op in ("load", "compile")] == ["load", "compile"]
    assert not runner.ended and runner.alive()


class Asking:
    """A runner that asks for the device before it answers; `seen` holds the requests."""

    def __init__(self, times=1, wait_s=0.0):
        self.left, self.wait_s, self.seen = times, wait_s, []

    def __call__(self, request):
        self.seen.append(request)
        if self.left:
            self.left -= 1
            return {"n": request["n"], "turn": True}
        time.sleep(self.wait_s)
        return {"n": request["n"], "ok": True, "inside": entered[-1:] == ["in"]}


entered: list[str] = []


@contextmanager
def turn(wait_s=0.0):
    time.sleep(wait_s)
    entered.append("in")
    try:
        yield
    finally:
        entered.append("out")


def test_a_runner_gets_the_device_when_it_asks(start):
    entered.clear()
    asking = Asking()
    runner = start(asking)
    assert runner.request("compile", {}, 5.0, turn=turn)["inside"] is True
    assert entered == ["in", "out"]
    first, second = asking.seen
    assert first["turn"] is True and (second["op"], second["n"]) == ("turn", first["n"])
    assert 4.0 < second["timeout_s"] <= 5.0


def test_a_runner_that_does_not_ask_gets_no_device(start):
    entered.clear()
    assert start(honest).request("compile", {}, 5.0, turn=turn)["ok"] and entered == []


def test_the_wait_for_the_device_is_not_the_candidates_time(start):
    runner = start(Asking(wait_s=0.3), {"wall_s": 1.0})
    assert runner.request("compile", {}, 1.0, turn=lambda: turn(1.2))["ok"]
    assert runner.request("launch", {}, 1.0)["ok"], "nor does it count against what it has in all"


@pytest.mark.parametrize("offered", [True, False])
def test_who_asks_again_or_unasked_has_tampered(start, offered):
    entered.clear()
    runner = start(Asking(times=2 if offered else 1))
    with pytest.raises(CandidateFault, match="unasked-for answer during 'compile'") as caught:
        runner.request("compile", {}, 5.0, turn=turn if offered else None)
    assert caught.value.status == "tampered" and entered == (["in", "out"] if offered else [])


def test_a_runner_that_has_the_device_and_does_not_answer_gives_it_back(start):
    entered.clear()
    runner = start(Asking(wait_s=2.0))
    with pytest.raises(CandidateFault) as caught:
        runner.request("compile", {}, 0.3, turn=turn)
    assert caught.value.status == "timed_out" and entered == ["in", "out"]


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (lambda r: {"n": r["n"] + 1, "ok": True}, "unasked-for answer during 'launch'"),
        (lambda r: {"ok": True}, "unasked-for answer"),
        (lambda r: {"n": r["n"]}, "unasked-for answer"),
        (lambda r: {"n": r["n"], "ok": 1}, "unasked-for answer"),
        (lambda r: {"n": r["n"], "ok": "yes"}, "unasked-for answer"),
        (lambda r: b"\x00\x00\x00\x04nope", "carried garbage during 'launch'"),
        (lambda r: b"\xff\xff\xff\xff", "carried garbage"),
        (lambda r: {"n": r["n"], "ok": False}, "carried a fault that is not one"),
        (lambda r: {"n": r["n"], "ok": False, "fault": {"status": "passed", "message": "m"}}, "status 'passed'"),
    ],
)
def test_what_no_runner_says_is_tampering(start, reply, words):
    runner = start(reply)
    with pytest.raises(CandidateFault, match=words) as caught:
        runner.request("launch", {}, 5.0)
    assert caught.value.status == "tampered"


def test_a_runner_that_lies_or_is_late_is_killed(start):
    for reply in (lambda r: {"n": 0, "ok": True}, lambda r: b"\xff\xff\xff\xff", lambda r: time.sleep(0.6)):
        runner = start(reply)
        with pytest.raises(CandidateFault):
            runner.request("launch", {}, 0.3)
        assert runner.ended and runner._zygote.asked == ["kill"]


def late(request):
    time.sleep(0.5)
    return honest(request)


def test_the_limit_that_was_reached_is_named(start):
    with pytest.raises(CandidateFault, match=r"no answer to 'launch' within 0\.1 s") as caught:
        start(late).request("launch", {}, 0.1)
    assert caught.value.status == "timed_out"


def test_all_requests_together_have_one_limit(start):
    answers = iter([honest, honest, late])
    runner = start(lambda r: next(answers)(r), {"wall_s": 0.3})
    for _ in range(2):
        runner.request("load", {}, 30.0)
    begun = time.monotonic()
    with pytest.raises(CandidateFault, match=r"within the 0\.3 s that a candidate has in all") as caught:
        runner.request("launch", {}, 30.0)
    assert caught.value.status == "timed_out" and time.monotonic() - begun < 0.45


def test_a_caller_who_waits_no_longer_is_no_fault_of_the_candidate(start):
    runner = start(late)
    runner.until = time.monotonic() + 0.1
    with pytest.raises(DeadlineExceeded, match="caller's time ended during 'launch'"):
        runner.request("launch", {}, 30.0)
    assert runner.ended


@pytest.mark.parametrize(
    ("zygote", "status", "words"),
    [
        ({"exited": False}, "crashed", "closed its result channel during 'launch'"),
        ({"exited": True, "status": 11}, "crashed", "killed by SIGSEGV"),
        ({"exited": True, "status": int(signal.SIGXCPU)}, "timed_out", "processor time"),
    ],
)
def test_the_end_of_a_runner_is_told(start, zygote, status, words):
    runner = start(lambda r: None, **zygote)
    with pytest.raises(CandidateFault, match=words) as caught:
        runner.request("launch", {}, 5.0)
    assert caught.value.status == status
    assert runner._zygote.asked == ["reap", "kill"]


def test_a_standby_that_speaks_or_is_gone_is_not_used(start):
    quiet = start(honest)
    assert quiet.alive()
    talker = start(lambda r: {"n": r["n"], "ok": True})
    talker.sock.setblocking(True)
    wire.send(talker.sock, {"op": "load", "n": 1})
    assert _within(lambda: not talker.alive())
    gone = start(lambda r: None)
    gone.sock.setblocking(True)
    wire.send(gone.sock, {"op": "load", "n": 1})
    assert _within(lambda: not gone.alive())


def test_a_runner_that_cannot_get_ready_is_the_machines_fault():
    class Failed(Zygote):
        def serve(self, sock):
            with sock:
                wire.send(sock, {"op": "failed", "message": "no device"})

    drain = Drain()
    zygote = Failed(honest)
    runner = Runner(zygote, drain, "r1", "runner", None, "/nowhere")
    with pytest.raises(WorkerLost, match="could not get ready: no device"):
        runner.wait_ready()
    assert runner.ended
    zygote.thread.join(timeout=5)
    drain.close()


@pytest.mark.parametrize("exited", [False, True])
def test_how_it_ended_is_known_to_its_zygote_alone(start, exited):
    runner = start(honest, exited=exited, status=9)
    assert runner.exit_status(0.0) == ((9, "") if exited else None)


def _within(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()
