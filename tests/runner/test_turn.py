"""The device is asked for once, before the first launch, and only where somebody is there to be asked."""

from __future__ import annotations

import threading
import time

import pytest
from kengine.runner import turn


@pytest.fixture(autouse=True)
def nobody_to_ask():
    yield
    turn.offer(None)


def test_it_is_asked_once():
    asked = []
    turn.take()
    turn.offer(lambda: asked.append("first"))
    turn.take()
    turn.take()
    assert asked == ["first"]
    turn.offer(lambda: asked.append("second"))
    turn.offer(None)
    turn.take()
    assert asked == ["first"]


def test_a_second_thread_waits_for_what_the_first_asks_for():
    order, asking, answered = [], threading.Event(), threading.Event()

    def ask():
        asking.set()
        answered.wait(5)
        order.append("answered")

    def launch(name):
        turn.take()
        order.append(name)

    turn.offer(ask)
    first = threading.Thread(target=launch, args=("first",))
    first.start()
    asking.wait(5)
    answered.set()
    first.join(5)
    launch("second")
    assert order == ["answered", "first", "second"]


def test_launches_of_two_threads_at_once_both_wait():
    order, answered = [], threading.Event()
    turn.offer(lambda: (answered.wait(5), order.append("answered")))
    threads = [threading.Thread(target=lambda: (turn.take(), order.append("launch"))) for _ in range(2)]
    for t in threads:
        t.start()
    time.sleep(0.1)
    assert order == []
    answered.set()
    for t in threads:
        t.join(5)
    assert order == ["answered", "launch", "launch"]
