"""A mistake in kengine's own code costs the candidate at which it is made its verdict, and nobody else anything."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
from kengine import Engine, InfraError, InternalError, Plan, UsageError, rewards
from kengine.cli.failure import hint_for
from kengine.engine import pipeline, ray_actor
from kengine.engine.ray_actors import Actors
from kengine.engine.ray_queue import Queue
from kengine.server import protocol
from kengine.server.desk import Desk
from kengine.server.protocol import Request
from toy_items import GOOD, TASK, item

BAD = GOOD + "\n# the one at which it is made\n"


@pytest.fixture
def made(monkeypatch):
    """How often the mistake was made; it is made at each candidate that is BAD."""
    judge, calls = pipeline.run, []

    def run(job, crew, device):
        if "the one" in job.candidate.main.text:
            calls.append(job)
            return {}["of ours"]
        return judge(job, crew, device)

    monkeypatch.setattr(pipeline, "run", run)
    return calls


@pytest.fixture(scope="module")
def engine():
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=2) as engine:
        yield engine


def kinds(results):
    return [getattr(r, "status", None) or type(r).__name__ for r in results]


ITEMS = [item(text) for text in (GOOD, BAD, GOOD, BAD, GOOD)]
WANTED = ["passed", "InternalError", "passed", "InternalError", "passed"]


def test_in_a_batch_the_others_are_judged(engine, made) -> None:
    results = list(engine.verify_many(ITEMS, return_exceptions=True))
    assert kinds(results) == WANTED
    assert len(made) == 6, "each is tried three times, as whatever the machine may be to blame for"
    assert str(results[1]).endswith("KeyError: 'of ours'") and "test_mistakes.py:" in str(results[1])
    assert rewards.correctness(results[1], allow_self_referenced=True) is None


def test_also_in_one_that_is_awaited(engine, made) -> None:
    async def main():
        return [r async for r in engine.verify_many(ITEMS, return_exceptions=True)]

    assert kinds(asyncio.run(main())) == WANTED


def test_and_alone_it_is_an_error_of_kengines(engine, made) -> None:
    with pytest.raises(InternalError, match="says nothing about the candidate; please report it") as raised:
        engine.verify(item(BAD))
    assert raised.value.exit_code == InfraError.exit_code and isinstance(raised.value.__cause__, KeyError)
    assert "the machine" not in hint_for(raised.value)


def test_on_a_node_of_a_cluster_the_others_of_its_portion_are_judged(engine, made) -> None:
    assert kinds(ray_actor.verify(engine, ITEMS)[1]) == WANTED


def test_what_cannot_be_sent_to_a_node_does_not_take_its_portion_along(engine) -> None:
    class Unsendable:
        def __reduce__(self):
            raise TypeError("cannot pickle it")

    class Remote:
        class exceptions:
            class RayActorError(Exception): ...

            class ObjectLostError(Exception): ...

        @staticmethod
        def get(answer):
            return answer

        class verify:
            @staticmethod
            def remote(portion):
                import pickle

                return pickle.dumps((0.1, pickle.loads(portion)))

    actors, queue = object.__new__(Actors), Queue()
    actors._ray, actors._queue, actors._closed = Remote, queue, False
    tickets = [queue.put(each) for each in ("a", Unsendable(), "c")]
    actor = type("Actor", (), {"handle": Remote, "where": "node 1"})
    actors._send(actor, tickets)
    assert (tickets[0].future.result(0), tickets[2].future.result(0)) == ("a", "c")
    assert isinstance(tickets[1].future.exception(0), InternalError)


def test_a_server_answers_the_others(engine, made, monkeypatch) -> None:
    reading = Request.item

    def read(request):
        return {}["of the reader"] if request.id == "1" else reading(request)

    monkeypatch.setattr(Request, "item", read)
    desk = Desk({"toy:cpu": engine})
    try:
        texts = [GOOD, GOOD, BAD, GOOD]
        jobs = desk.submit([Request(str(n), candidate_text=text, task_text=TASK) for n, text in enumerate(texts)])
        answers = [job.future.result(60) for job in jobs]
    finally:
        monkeypatch.setattr(engine, "close", lambda: None)
        desk.close()
    assert [a.verdict and str(a.verdict.status) for a in answers] == ["passed", None, None, "passed"]
    assert [a.error for a in answers[1:3]] == ["InternalError"] * 2
    assert type(protocol.to_exception(answers[1])) is InternalError


def test_an_item_that_is_none_is_the_callers_mistake(engine) -> None:
    with pytest.raises(UsageError, match=r"want items .*, got tuple"):
        engine.verify((item(GOOD).candidate, item(GOOD).task))


def test_verdicts_that_cannot_be_kept_are_the_machines_fault(tmp_path) -> None:
    with Engine(target="toy:cpu", plan=Plan(cases=1), workers=1, run=tmp_path) as engine:
        assert engine.verify(item(GOOD)).passed
        engine._store._db.close()
        engine._store._db = sqlite3.connect("file:/dev/full?mode=ro", uri=True)
        with pytest.raises(InfraError, match=f"run directory {tmp_path}: verdicts cannot be kept there"):
            engine.verify(item(GOOD))
