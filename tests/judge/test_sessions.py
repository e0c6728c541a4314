"""Which tasks a judge keeps open, and what becomes of the one used longest ago."""

from __future__ import annotations

import pytest
from kengine import codec
from kengine.judge import server
from kengine.judge.server import Judge
from kengine.model import Task

SOURCE = (
    "# {}\nimport numpy\ndef make_inputs(seed, device):\n    return (numpy.arange(4.0) + seed % 7,)\n"
    "def reference(x):\n    return x * 2\n"
)


@pytest.fixture
def ask():
    judge = Judge()

    def request(op, **body):
        answer, _ = judge.answer({"op": op, **body}, [])
        return answer

    request.judge = judge
    yield request
    for session in judge.sessions.values():
        session.close()


def open_task(ask, name, screen=True):
    task = codec.to_json(Task(name, "function", SOURCE.format(name)))
    answer = ask("open", task=task, device="cpu", salt="5a" * 16, cases=1, screen=screen)
    assert answer["ok"], answer
    return answer["task_id"]


def test_the_task_used_longest_ago_is_closed_and_opened_anew(ask, monkeypatch):
    monkeypatch.setattr(server, "MAX_TASKS", 2)
    one, two = open_task(ask, "one"), open_task(ask, "two")
    first, second = ask.judge.sessions[one], ask.judge.sessions[two]
    closed = []
    for session in (first, second):
        monkeypatch.setattr(session, "close", lambda session=session: closed.append(session))
    assert open_task(ask, "one") == one and ask.judge.sessions[one] is first, "used again, it is the younger one"
    three = open_task(ask, "three")
    assert list(ask.judge.sessions) == [one, three] and closed == [second]
    assert ask.judge.screened == {one, three}, "it is screened anew when it comes back"
    gone = ask("lend", task_id=two, cases=[0], phase="check", holder="r1")
    assert not gone["ok"]
    assert open_task(ask, "two") == two
    assert list(ask.judge.sessions) == [three, two] and closed == [second, first]
