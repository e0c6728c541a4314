"""The desk: every request is answered once, whatever becomes of it."""

from __future__ import annotations

import threading
import time

import pytest
from kengine import InfraError, InternalError, TaskError, UsageError, Verdict
from kengine.server.desk import QueueFull
from kengine.server.protocol import DeadlineExceeded, Draining, Request, to_exception
from served import StubEngine, desk_of, request


@pytest.fixture
def blocked():
    """A desk with one worker that is held up until `gate` is set."""
    engine = StubEngine()
    engine.gate.clear()
    desk = desk_of(engine, room=3)
    yield engine, desk
    engine.gate.set()
    desk.close()


def wait_for(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def test_a_request_gets_its_own_verdict():
    desk = desk_of(StubEngine(workers=4))
    jobs = desk.submit([request(n, f"# {n}\n") for n in range(20)])
    answers = [job.future.result(5) for job in jobs]
    assert [a.id for a in answers] == [str(n) for n in range(20)]
    assert [a.verdict.candidate.main.text for a in answers] == [f"# {n}\n" for n in range(20)]
    assert desk.load() == (0, 0)
    desk.close()


def test_the_same_id_is_not_judged_twice():
    engine = StubEngine(delay_s=0.05)
    desk = desk_of(engine)
    (first,), (again,) = desk.submit([request("a")]), desk.submit([request("a")])
    assert first is again
    first.future.result(5)
    assert desk.submit([request("a")])[0] is first and len(engine.seen) == 1
    desk.close()


def test_an_id_cannot_fetch_the_verdict_of_another_candidate():
    engine = StubEngine()
    desk = desk_of(engine)
    desk.submit([request("a", "# one\n", deadline_s=5.0)])[0].future.result(5)
    assert desk.submit([request("a", "# one\n", deadline_s=4.0)])[0].future.done()
    for together in ([request("a", "# two\n")], [request("b", "# one\n"), request("b", "# two\n")]):
        with pytest.raises(UsageError, match="is that of another request: give each candidate an id of its own"):
            desk.submit(together)
    assert desk.find("b") is None and len(engine.seen) == 1
    desk.close()


def test_old_answers_are_forgotten():
    desk = desk_of(StubEngine(), keep=2)
    for n in range(4):
        desk.submit([request(n)])[0].future.result(5)
    assert [desk.find(str(n)) is not None for n in range(4)] == [False, False, True, True]
    desk.close()


def test_a_full_queue_takes_all_or_none(blocked):
    _, desk = blocked
    desk.submit([request(0)])
    wait_for(lambda: desk.load() == (0, 1))
    desk.submit([request(1), request(2)])
    with pytest.raises(QueueFull, match="2 requests wait and 3 may: no room for 2 more") as caught:
        desk.submit([request(3), request(4)])
    assert 0.05 <= caught.value.retry_after_s <= 30
    assert desk.find("3") is None and desk.load() == (2, 1)
    desk.submit([request(1), request(2), request(3)])  # two of them are known: there is room for the third
    assert desk.load() == (3, 1)


def test_a_deadline_ends_in_the_queue_and_the_candidate_is_never_judged(blocked):
    engine, desk = blocked
    (running,), (waiting,) = desk.submit([request(0)]), desk.submit([request(1, "x", deadline_s=0.1)])
    answer = waiting.future.result(5)
    assert answer.error == "DeadlineExceeded" and "0.1 s of this request ended in the queue" in answer.message
    assert isinstance(to_exception(answer), DeadlineExceeded)
    engine.gate.set()
    assert isinstance(running.future.result(5).verdict, Verdict)
    wait_for(lambda: desk.load() == (0, 0))
    assert len(engine.seen) == 1


def test_a_deadline_ends_while_it_is_judged_and_the_late_verdict_is_dropped(blocked):
    engine, desk = blocked
    (job,) = desk.submit([request(0, deadline_s=0.1)])
    assert "ended while it was judged" in job.future.result(5).message
    engine.gate.set()
    wait_for(lambda: desk.load() == (0, 0))
    assert job.future.result().verdict is None


def test_only_what_waits_can_be_taken_back(blocked):
    _, desk = blocked
    desk.submit([request(0)])
    wait_for(lambda: desk.load() == (0, 1))
    (job,) = desk.submit([request(1)])
    assert desk.cancel("1") and not desk.cancel("0") and not desk.cancel("none")
    assert job.future.result(5).error == "Cancelled"
    assert desk.load() == (0, 1)


def test_draining_turns_away_what_waits_and_lets_the_rest_end(blocked):
    engine, desk = blocked
    (running,) = desk.submit([request(0)])
    wait_for(lambda: desk.load() == (0, 1))
    (waiting,) = desk.submit([request(1)])
    desk.drain()
    assert waiting.future.result(5).error == "Draining"
    with pytest.raises(Draining):
        desk.submit([request(2)])
    closer = threading.Thread(target=desk.close, args=(5.0,))
    closer.start()
    engine.gate.set()
    closer.join(5)
    assert running.future.result(0).verdict is not None and engine.closed


def test_closing_answers_what_cannot_end(blocked):
    engine, desk = blocked
    (job,) = desk.submit([request(0)])
    wait_for(lambda: desk.load() == (0, 1))
    threading.Timer(0.3, engine.gate.set).start()
    desk.close(grace_s=0.05)
    assert job.future.result(0).error == "Draining"


@pytest.mark.parametrize(
    ("error", "name", "kind"),
    [
        (TaskError("t"), "TaskError", TaskError),
        (InfraError("i"), "InfraError", InfraError),
        (ValueError("v"), "InternalError", InternalError),
        (SystemExit(3), "InternalError", InternalError),
    ],
)
def test_an_engine_that_raises_answers_with_the_error(error, name, kind):
    desk = desk_of(StubEngine(fail=lambda item: error))
    answer = desk.submit([request(0)])[0].future.result(5)
    assert answer.error == name and type(to_exception(answer)) is kind
    assert desk.submit([request(1)])[0].future.result(5).error == name  # the worker lives on
    desk.close()


def test_a_broken_task_is_an_answer_and_does_not_stop_the_others():
    desk = desk_of(StubEngine())
    broken = Request("b", candidate_text="x = 1", task_text="def reference(x):\n    return x\n")
    jobs = desk.submit([broken, request("a")])
    answers = {job.request.id: job.future.result(5) for job in jobs}
    assert answers["b"].error == "TaskError" and "make_inputs" in answers["b"].message
    assert answers["a"].verdict is not None
    assert desk.load() == (0, 0)
    desk.close()


def test_a_target_that_is_not_served():
    desk = desk_of(StubEngine())
    with pytest.raises(UsageError, match="'triton:sm_90' is not served here; served: toy:cpu"):
        desk.submit([request(0, target="triton:sm_90")])
    desk.close()


def test_the_engine_is_told_how_much_time_is_left(blocked, monkeypatch):
    engine, desk = blocked
    given, verify = [], engine.verify
    monkeypatch.setattr(engine, "verify", lambda item: given.append(item.within_s) or verify(item))
    first, second = desk.submit([request(0, deadline_s=50.0), request(1, "# b\n", deadline_s=40.0)])
    wait_for(lambda: desk.load() == (1, 1))
    time.sleep(0.1)
    engine.gate.set()
    assert first.future.result(5).verdict and second.future.result(5).verdict
    assert 40.0 < given[0] <= 50.0 and 30.0 < given[1] <= 39.9


def test_a_desk_without_targets_is_refused():
    from kengine.server.desk import Desk

    with pytest.raises(UsageError, match="no target to judge on"):
        Desk({})


@pytest.mark.parametrize(("mean_s", "wait_s"), [(0.0, 0.05), (4.0, 3.0), (1e6, 30.0)])
def test_when_to_come_again_has_bounds(blocked, mean_s, wait_s):
    _, desk = blocked
    desk.submit([request(0)])
    wait_for(lambda: desk.load() == (0, 1))
    desk.submit([request(1), request(2), request(3)])
    desk._mean_s = mean_s
    with pytest.raises(QueueFull) as caught:
        desk.submit([request(4)])
    assert caught.value.retry_after_s == wait_s


def test_an_answer_that_is_forgotten_takes_no_memory_until_its_deadline():
    import gc
    import weakref

    desk = desk_of(StubEngine(), keep=1)
    job = weakref.ref(desk.submit([request(0, deadline_s=3600.0)])[0])
    desk.submit([request(1)])[0].future.result(5)
    wait_for(lambda: desk.load() == (0, 0))
    wait_for(lambda: gc.collect() >= 0 and job() is None)
    desk.close()


def test_closing_begins_with_turning_away(blocked):
    engine, desk = blocked
    (running,) = desk.submit([request(0)])
    wait_for(lambda: desk.load() == (0, 1))
    (waiting,) = desk.submit([request(1)])
    closer = threading.Thread(target=desk.close, args=(20.0,))
    closer.start()
    assert waiting.future.result(5).error == "Draining" and not running.future.done() and not engine.closed
    with pytest.raises(Draining):
        desk.submit([request(2)])
    engine.gate.set()
    closer.join(10)
    assert running.future.result(0).verdict is not None and engine.closed
