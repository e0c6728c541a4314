"""Work done side by side: results in order, and an end that comes when it is wanted."""

from __future__ import annotations

import subprocess
import sys
import threading
import time

import pytest
from kengine.curate.parallel import in_parallel


def test_results_come_in_order_and_few_are_drawn_ahead() -> None:
    drawn, lock = [], threading.Lock()

    def items():
        for n in range(50):
            with lock:
                drawn.append(n)
            yield n

    def work(n: int) -> int:
        time.sleep(0.001 * (n % 3))
        return n * n

    seen = []
    for result in in_parallel(work, items(), 3):
        assert len(drawn) <= len(seen) + 12
        seen.append(result)
    assert seen == [n * n for n in range(50)]


def test_an_exception_ends_the_rest() -> None:
    def work(n: int) -> int:
        if n == 5:
            raise ValueError("five")
        return n

    results = in_parallel(work, iter(range(100)), 2)
    with pytest.raises(ValueError, match="five"):
        list(results)
    assert not [t for t in threading.enumerate() if t.name.startswith("curate")]


@pytest.mark.parametrize("interrupted", [True, False])
def test_an_interrupt_ends_what_is_being_done_and_a_failure_lets_it_end(interrupted) -> None:
    """A worker that waits for its engine is told that nobody waits for the worker."""
    ended = threading.Event()
    told = []

    def work(n: int) -> int:
        if n:
            told.append(ended.wait(timeout=20 if interrupted else 0.2))
        elif not interrupted:
            raise ValueError("zero")
        return n

    results = in_parallel(work, iter(range(3)), 3, ended.set)
    if interrupted:
        assert next(results) == 0
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            results.throw(KeyboardInterrupt())
        assert time.monotonic() - begun < 5 and all(told) and told
    else:
        with pytest.raises(ValueError, match="zero"):
            list(results)
        assert not ended.is_set()
    assert not [t for t in threading.enumerate() if t.name.startswith("curate")]


def test_work_that_is_not_waited_for_keeps_nobody() -> None:
    ended, told = threading.Event(), []
    busy = threading.Barrier(4)

    def work(n: int) -> int:
        if n:
            busy.wait(timeout=30)
            ended.wait(timeout=30)
        return n

    results = in_parallel(work, iter(range(20)), 3, lambda: told.append(True), 0.1)
    assert next(results) == 0
    busy.wait(timeout=30)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        results.throw(KeyboardInterrupt())
    assert 0.1 <= time.monotonic() - begun < 1.0 and told == [True]
    left = [t for t in threading.enumerate() if t.name.startswith("curate")]
    assert len(left) == 3 and all(t.daemon for t in left)
    ended.set()
    for thread in left:
        thread.join(timeout=5)
    assert not any(t.is_alive() for t in left), "each ends with the work that it has; the rest was taken back"


def test_a_failure_is_told_only_when_the_rest_has_ended() -> None:
    """What a failure of another finds under way may still be kept."""
    done = []

    def work(n: int) -> int:
        if n == 0:
            raise ValueError("zero")
        time.sleep(0.3)
        done.append(n)
        return n

    with pytest.raises(ValueError, match="zero"):
        list(in_parallel(work, iter(range(3)), 3, patience_s=0.0))
    assert done and not [t for t in threading.enumerate() if t.name.startswith("curate")]


def test_the_process_ends_without_the_work() -> None:
    code = """
import time
from kengine.curate.parallel import in_parallel
results = in_parallel(lambda n: time.sleep(60 * n), iter(range(4)), 2, patience_s=0.1)
next(results)
try:
    results.throw(KeyboardInterrupt())
except KeyboardInterrupt:
    print("over")
"""
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50, check=True)
    assert (done.stdout, done.stderr) == ("over\n", "") and time.monotonic() - begun < 20
