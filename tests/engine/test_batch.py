"""Batches: order, streaming, exceptions in place, both kinds of iteration, and an end."""

from __future__ import annotations

import asyncio
import itertools
import sys
import threading
import time

import pytest
from kengine.engine.batch import Batch, Pool
from kengine.errors import InfraError, InternalError, TaskError, WorkerLost


@pytest.fixture
def pool():
    pool = Pool(3)
    yield pool
    pool.close()


def test_results_come_in_the_order_of_the_items(pool):
    def work(n):
        time.sleep(0.02 if n % 3 == 0 else 0)
        return n * n

    assert list(Batch(pool, work, range(20), False)) == [n * n for n in range(20)]


def test_an_endless_iterable_is_drawn_only_as_far_as_needed(pool):
    drawn = []

    def items():
        for n in itertools.count():
            drawn.append(n)
            yield n

    assert list(itertools.islice(iter(Batch(pool, lambda n: n, items(), False)), 5)) == [0, 1, 2, 3, 4]
    assert len(drawn) <= 5 + 2 * pool.workers


def test_a_broken_task_is_raised_at_its_place(pool):
    def work(n):
        if n == 2:
            raise TaskError("two is broken")
        return n

    results = []
    with pytest.raises(TaskError, match="two is broken"):
        for value in Batch(pool, work, range(5), False):
            results.append(value)
    assert results == [0, 1]


def test_or_stands_in_its_place(pool):
    def work(n):
        if n == 2:
            raise TaskError("two is broken")
        return n

    results = list(Batch(pool, work, range(4), True))
    assert results[:2] == [0, 1]
    assert isinstance(results[2], TaskError)
    assert results[3] == 3


def faulty(n):
    if n == 2:
        raise ZeroDivisionError("of ours")
    return n


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("work", [faulty, lambda n: sys.exit(4) if n == 2 else n])
def test_a_mistake_of_kengines_own_stands_in_its_place_and_the_others_go_on(pool, asynchronous, work):
    batch = Batch(pool, work, range(8), True)

    async def main():
        return [value async for value in batch]

    results = asyncio.run(main()) if asynchronous else list(batch)
    assert [*results[:2], *results[3:]] == [0, 1, 3, 4, 5, 6, 7]
    assert type(results[2]) is InternalError and isinstance(results[2], InfraError)
    assert str(results[2]).endswith(("ZeroDivisionError: of ours", "SystemExit: 4")) and "test_batch.py:" in str(
        results[2]
    )


def test_or_is_raised_there_as_what_it_is(pool):
    results = []
    with pytest.raises(InternalError, match=r"report it: ZeroDivisionError: of ours$") as raised:
        for value in Batch(pool, faulty, range(5), False):
            results.append(value)
    assert results == [0, 1] and isinstance(raised.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("error", [TaskError("no such row"), ValueError("bad row")])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_the_items_raise_loses_none_of_those_before(pool, error, asynchronous):
    def items():
        yield from range(4)
        raise error

    batch, results = Batch(pool, lambda n: n, items(), True), []

    async def main():
        async for value in batch:
            results.append(value)

    def plain():
        for value in batch:
            results.append(value)

    with pytest.raises(type(error), match=str(error)):
        asyncio.run(main()) if asynchronous else plain()
    assert results == [0, 1, 2, 3]


def test_asynchronous_iteration_lets_the_loop_run(pool):
    def work(n):
        time.sleep(0.02)
        return n

    async def main():
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.005)
                ticks += 1

        ticking = asyncio.ensure_future(tick())
        results = [value async for value in Batch(pool, work, range(9), False)]
        ticking.cancel()
        return results, ticks

    results, ticks = asyncio.run(main())
    assert results == list(range(9))
    assert ticks >= 3


def test_closing_ends_the_threads_and_refuses_what_has_not_begun():
    pool = Pool(1)
    begun, leave = threading.Event(), threading.Event()

    def work():
        begun.set()
        leave.wait(5)

    first = pool.submit(work)
    begun.wait(5)
    second = pool.submit(lambda: None)
    closing = threading.Thread(target=pool.close)
    closing.start()
    with pytest.raises(WorkerLost):
        second.result(5)
    leave.set()
    closing.join(5)
    assert first.result(1) is None
    with pytest.raises(WorkerLost):
        pool.submit(lambda: None)
    assert not [t for t in threading.enumerate() if t in pool._threads]


@pytest.fixture
def held(pool):
    """A batch whose first item is done at once while the others wait for `leave`; (batch, leave, what ran)."""
    leave, ran = threading.Event(), []

    def work(n):
        ran.append(n)
        if n:
            leave.wait(10)
        else:
            while len(ran) < 3:  # until every worker is at something
                time.sleep(0.001)
        return n

    batch = Batch(pool, work, range(20), False)
    yield batch, leave, ran
    leave.set()


def check_given_up(pool, pending, leave, ran):
    assert [future.cancelled() for future in pending] == [False] * (len(pending) - 2) + [True] * 2
    leave.set()
    assert pool.submit(lambda: 7).result(5) == 7
    assert sorted(ran) == [0, 1, 2, 3], "what had not begun is never begun"


def test_who_stops_iterating_gives_up_what_has_not_begun(pool, held):
    batch, leave, ran = held
    results = iter(batch)
    assert next(results) == 0
    while len(ran) < 4:
        time.sleep(0.001)
    pending = list(batch._pending)
    results.close()
    check_given_up(pool, pending, leave, ran)


def test_also_asynchronously(pool, held):
    batch, leave, ran = held

    async def main():
        results = batch.__aiter__()
        assert await results.__anext__() == 0
        while len(ran) < 4:
            await asyncio.sleep(0.001)
        pending = list(batch._pending)
        await results.aclose()
        return pending

    check_given_up(pool, asyncio.run(main()), leave, ran)


def test_a_pool_may_be_closed_by_one_of_its_own_threads():
    pool = Pool(2)
    assert pool.submit(pool.close).result(5) is None
    with pytest.raises(WorkerLost):
        pool.submit(lambda: None)
