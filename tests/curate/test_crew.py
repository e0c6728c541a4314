"""Work in several processes: results in order, exceptions as they are, nothing left behind."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest
from kengine.curate import crew
from kengine.errors import InfraError, UsageError


def count(k: int, of: int):
    for n in range(k, 50, of):
        yield n, os.getpid()


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("of", [1, 2, 3, 8])
def test_results_come_in_order_from_several_processes(of) -> None:
    out = list(crew.spread(count, of))
    assert [n for n, _ in out] == list(range(50))
    processes = {p for _, p in out}
    assert len(processes) == of and os.getpid() not in processes and not any(map(alive, processes))


def test_nothing_to_do() -> None:
    assert list(crew.spread(lambda k, of: iter(()), 3)) == []


def test_an_exception_comes_at_its_place() -> None:
    def work(k: int, of: int):
        for n in range(k, 9, of):
            if n == 5:
                raise UsageError("row 5: not JSON")
            yield n

    out = []
    with pytest.raises(UsageError, match="row 5: not JSON"):
        for n in crew.spread(work, 2):
            out.append(n)
    assert out == [0, 1, 2, 3, 4]


def test_an_exception_that_cannot_be_sent_is_told() -> None:
    class Local(Exception):
        pass

    def work(k: int, of: int):
        raise Local("here")
        yield

    with pytest.raises(InfraError, match="a process of the curation failed: Local: here"):
        list(crew.spread(work, 2))


def test_a_process_that_dies_is_noticed() -> None:
    def work(k: int, of: int):
        yield 0
        os.kill(os.getpid(), signal.SIGKILL)
        yield 1

    with pytest.raises(InfraError, match="a process of the curation died"):
        list(crew.spread(work, 2))


def test_who_stops_early_leaves_no_process() -> None:
    def work(k: int, of: int):
        while True:
            yield os.getpid(), b"x" * 100_000

    results = crew.spread(work, 2)
    processes = {next(results)[0], next(results)[0]}
    results.close()
    assert len(processes) == 2 and not any(map(alive, processes))
    assert not any(t.name == "curate-crew" for t in threading.enumerate())


def test_processes_end_when_their_parent_is_killed(tmp_path) -> None:
    def work(k: int, of: int):
        while True:
            yield os.getpid(), b"x" * 100_000

    parent = os.fork()
    if not parent:
        try:
            results = crew.spread(work, 2)
            (tmp_path / "them").write_text(f"{next(results)[0]} {next(results)[0]}")
            time.sleep(60)
        finally:
            os._exit(0)
    deadline = time.monotonic() + 20
    while not (tmp_path / "them").exists() or not (tmp_path / "them").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    them = [int(p) for p in (tmp_path / "them").read_text().split()]
    while any(alive(p) and not zombie(p) for p in them):
        assert time.monotonic() < deadline + 20
        time.sleep(0.02)


def zombie(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


class Odd(Exception):
    """Says something else when it has been sent."""

    def __init__(self, what: object) -> None:
        super().__init__(f"got {what}")


def test_an_exception_that_says_something_else_after_it_was_sent_is_told_as_it_was() -> None:
    def work(k: int, of: int):
        yield k
        raise Odd(3)

    with pytest.raises(InfraError, match=r"a process of the curation failed: Odd: got 3$"):
        list(crew.spread(work, 1))


def test_a_message_that_was_cut_is_the_end() -> None:
    import io
    from queue import Queue

    for tail in (b"", b"\0" * 5, (10).to_bytes(8, "big") + b"12345"):
        queue: Queue[bytes] = Queue()
        crew._pump(io.BytesIO((3).to_bytes(8, "big") + b"one" + tail), queue, threading.Event())
        assert [queue.get_nowait() for _ in range(queue.qsize())] == [b"one", b""]


def test_who_takes_results_slowly_has_few_of_them_waiting(tmp_path) -> None:
    made = tmp_path / "made"

    def work(k: int, of: int):
        for _ in range(60):
            with made.open("a") as file:
                file.write("x")
            yield bytes(1 << 21)

    results = crew.spread(work, 1)
    next(results)
    time.sleep(1.0)
    assert len(made.read_text()) <= 2 * crew.AHEAD
    results.close()


def test_a_ctrl_c_is_the_affair_of_the_process_that_waits() -> None:
    assert list(crew.spread(lambda k, of: iter([signal.getsignal(signal.SIGINT) is signal.SIG_IGN]), 1)) == [True]
