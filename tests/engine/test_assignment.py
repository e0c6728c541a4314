"""Tasks are shared out evenly, and one that is asked for often goes to a further judge when its own are busy."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kengine.engine.assignment import OFTEN, QUEUE, REMEMBERED, Assignment


@pytest.fixture
def judges():
    return [SimpleNamespace(name=n, waiting=0) for n in range(3)]


def test_each_judge_gets_as_many_tasks_as_any_other_and_keeps_them(judges):
    made = Assignment(judges)
    first = [made.choose(f"task {n}") for n in range(9)]
    assert [sum(each is judge for each in first) for judge in judges] == [3, 3, 3]
    assert all(made.choose(f"task {n}") is first[n] for n in range(9))


def test_a_task_goes_to_another_judge_when_it_is_asked_for_often_and_its_own_is_busy(judges):
    made = Assignment(judges)
    own = made.choose("task")
    own.waiting = QUEUE
    chosen = [made.choose("task") for _ in range(OFTEN - 1)]
    assert all(each is own for each in chosen), "opening it once more costs as much as judging a few"
    busy, free = (judge for judge in judges if judge is not own)
    busy.waiting, free.waiting = 2, 1
    assert made.choose("task") is free
    free.waiting = QUEUE
    assert made.choose("task") is own
    own.waiting = QUEUE - 1
    assert made.choose("task") is own


def test_another_judge_that_is_as_busy_is_no_help(judges):
    made = Assignment(judges)
    own = made.choose("task")
    for judge in judges:
        judge.waiting = QUEUE
    assert all(made.choose("task") is own for _ in range(3 * OFTEN))


def test_what_is_remembered_is_bounded(judges):
    made = Assignment(judges)
    for n in range(3 * REMEMBERED):
        made.choose(f"task {n}")
    assert len(made._given) == REMEMBERED
