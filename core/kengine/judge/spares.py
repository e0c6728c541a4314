"""Blocks of device memory that are made ahead and given back by a thread.

While another process opens or closes its device, the driver lets every call that makes, maps or frees memory wait for
it, 5 to 200 ms on an H200; a judge that made each block when it was asked for would stand still for that long, and all
runners with it.
"""

from __future__ import annotations

import queue
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from kengine.errors import KengineError

AHEAD = 2
"""Blocks of each size that wait to be taken."""
LEAST, MOST = 4 << 20, 256 << 20
"""Bytes: smaller blocks are of the first size, larger ones than the second are not made ahead."""
ALL = 1 << 30
"""Bytes of all blocks that wait; those of the size that was asked for longest ago go first."""


class Block(Protocol):
    """What can be given back."""

    def close(self) -> None: ...


B = TypeVar("B", bound=Block)


class Spares(Generic[B]):
    """Blocks by size, made by `make` in a thread of its own; `enter` is called in it first."""

    def __init__(self, make: Callable[[int], B], enter: Callable[[], object] = lambda: None) -> None:
        self._make = make
        self._enter = enter
        self._lock = threading.Lock()
        self._ready: OrderedDict[int, list[B]] = OrderedDict()
        self._work: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def take(self, nbytes: int) -> B:
        """A block of at least so many bytes. Raises what `make` raises."""
        size = round_up(nbytes)
        if size > MOST:
            return self._make(nbytes)
        with self._lock:
            ready = self._ready.setdefault(size, [])
            self._ready.move_to_end(size)
            block = ready.pop() if ready else None
        self.later(lambda: self._fill(size))
        return self._make(size) if block is None else block

    def later(self, work: Callable[[], object]) -> None:
        """Do something in the thread; what it raises is forgotten."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="kengine-spares", daemon=True)
                self._thread.start()
        self._work.put(work)

    def close(self) -> None:
        """Give back every block that waits, once all that was to be done later is done."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._work.put(None)
            thread.join()
        while self._ready:
            for block in self._ready.popitem()[1]:
                block.close()

    def _serve(self) -> None:
        with suppress(Exception):
            self._enter()
        while (work := self._work.get()) is not None:
            with suppress(Exception):
                work()

    def _fill(self, size: int) -> None:
        while len(self._ready.get(size, ())) < AHEAD:
            try:
                block = self._make(size)
            except KengineError:
                return  # whoever takes the next one is told why there is none
            with self._lock:
                self._ready.setdefault(size, []).append(block)
        self._drop()

    def _drop(self) -> None:
        while True:
            with self._lock:
                held = sum(size * len(blocks) for size, blocks in self._ready.items())
                if held <= ALL or len(self._ready) < 2:
                    return
                blocks = self._ready.popitem(last=False)[1]
            for block in blocks:
                block.close()


def round_up(nbytes: int) -> int:
    """The size of the block that serves so many bytes: a power of two with room for calls of more cases in a row."""
    return max(LEAST, 1 << (2 * nbytes - 1).bit_length()) if nbytes else LEAST
