"""Blocks that are made ahead, in a thread, and given back there; with doubles for the memory."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from kengine.errors import DeviceLost
from kengine.judge import spares
from kengine.judge.spares import AHEAD, LEAST, MOST, Spares, round_up


class Block:
    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.by = threading.current_thread().name
        self.closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class Memory:
    """Makes blocks, and remembers them."""

    def __init__(self) -> None:
        self.made: list[Block] = []
        self.fails = False

    def __call__(self, nbytes: int) -> Block:
        if self.fails:
            raise DeviceLost("no memory")
        self.made.append(Block(nbytes))
        return self.made[-1]


def wait_until(holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + 5
    while not holds() and time.monotonic() < end:
        time.sleep(0.002)
    return holds()


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def made(memory: Memory) -> Iterator[Spares[Block]]:
    before = threading.active_count()
    kept: Spares[Block] = Spares(memory)
    yield kept
    kept.close()
    assert wait_until(lambda: threading.active_count() <= before)


@pytest.mark.parametrize(
    "nbytes, size",
    [(0, LEAST), (1, LEAST), (LEAST // 2, LEAST), (LEAST // 2 + 1, 2 * LEAST), (3 << 20, 8 << 20), (4 << 20, 8 << 20)],
)
def test_a_size_has_room_for_twice_as_much(nbytes: int, size: int) -> None:
    assert round_up(nbytes) == size


def test_the_first_is_made_at_once_and_the_next_wait(made: Spares[Block], memory: Memory) -> None:
    first = made.take(100)
    assert first.by == threading.current_thread().name and first.nbytes == LEAST
    assert wait_until(lambda: len(memory.made) == 1 + AHEAD)
    second = made.take(LEAST // 2)
    assert second.by == "kengine-spares" and second is not first
    assert wait_until(lambda: len(memory.made) == 2 + AHEAD)


def test_another_size_gets_a_block_of_its_own(made: Spares[Block], memory: Memory) -> None:
    made.take(100)
    assert wait_until(lambda: len(memory.made) == 1 + AHEAD)
    assert made.take(LEAST).nbytes == 2 * LEAST


def test_large_ones_are_made_as_they_are_asked_for(made: Spares[Block], memory: Memory) -> None:
    block = made.take(MOST)
    assert (block.nbytes, block.by) == (MOST, threading.current_thread().name)
    assert memory.made == [block]


def test_what_waits_is_bounded(made: Spares[Block], memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spares, "ALL", 4 * LEAST)
    made.take(100)
    assert wait_until(lambda: len(memory.made) == 1 + AHEAD)
    old = memory.made[1:]
    made.take(LEAST)
    assert wait_until(lambda: all(block.closed for block in old))
    assert not any(block.closed for block in memory.made if block not in old)


def test_work_is_done_later_and_in_order(made: Spares[Block]) -> None:
    done: list[tuple[int, str]] = []

    def fail() -> None:
        raise OSError("refused")

    for n in range(3):
        made.later(fail)
        made.later(lambda n=n: done.append((n, threading.current_thread().name)))  # type: ignore[misc]
    assert wait_until(lambda: len(done) == 3)
    assert done == [(n, "kengine-spares") for n in range(3)]


def test_the_thread_enters_first(memory: Memory) -> None:
    seen: list[str] = []
    kept: Spares[Block] = Spares(memory, lambda: seen.append("entered"))
    kept.later(lambda: seen.append("worked"))
    kept.close()
    assert seen == ["entered", "worked"]


def test_who_takes_is_told_that_there_is_no_memory(made: Spares[Block], memory: Memory) -> None:
    memory.fails = True
    with pytest.raises(DeviceLost, match="no memory"):
        made.take(100)
    memory.fails = False
    assert made.take(100).nbytes == LEAST


def test_closing_gives_everything_back_but_what_was_taken(memory: Memory) -> None:
    kept: Spares[Block] = Spares(memory)
    taken = kept.take(100)
    assert wait_until(lambda: len(memory.made) == 1 + AHEAD)
    kept.close()
    assert [block.closed for block in memory.made] == [False, True, True] and not taken.closed
    kept.close()
