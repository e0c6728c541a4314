"""What host code in C++ does with memory where nobody follows it: data that it fetches, and memory that it writes.

Nobody sees the loads and stores of compiled code. Copies between host and device are told by who makes them. That
memory was written is seen by its sums: between two events that are seen (operators, launches, copies, the function's
end) nothing else may change it. What host code has written is of unknown origin from then on, and it could read it.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kengine.provenance import contents
from kengine.provenance.ledger import FOREIGN, Ledger, Piece
from kengine.runner import watch

HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST = 0, 1, 2
"""Kinds of a copy, as CUDA and HIP number them; 3 is inside the device, 4 by the addresses."""
_LARGEST = 256 << 20
"""Bytes that are watched at most, all together."""
Region = tuple[int, int]


class _Memory:
    """One call's. seals: digests of blocks by their start. fetched: what was copied to the host, by its address there.

    symbols: variables of a module that host code has copied to; kernels read them without being given them. given: what
    the function that runs was given. dirty: blocks that host code has written to. precise: the host's tensors never
    lie where the device's do.
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.seals: dict[int, tuple[int, Any, Any]] = {}
        self.sealed = 0
        self.fetched: dict[int, tuple[bytes, int]] = {}
        self.symbols: dict[int, Region] = {}
        self.given: list[Region] = []
        self.dirty: set[int] = set()
        self.precise = False

    def seal(self, regions: Iterable[tuple[int, int, Any]]) -> None:
        """Take the sums of blocks (start, bytes, what keeps them) as those that they have from now on."""
        for start, nbytes, keep in regions:
            before = self.seals.pop(start, None)
            self.dirty.discard(start)
            self.sealed -= before[0] if before else 0
            if 0 < nbytes <= _LARGEST - self.sealed:
                self.seals[start] = nbytes, contents.digest(start, start + nbytes, False), keep
                self.sealed += nbytes

    def settle(self) -> list[Region]:
        """Find what has changed since it was sealed."""
        changed = []
        for start, (nbytes, digest, keep) in list(self.seals.items()):
            now = contents.digest(start, start + nbytes, False)
            if now != digest:
                self.seals[start] = nbytes, now, keep
                changed.append((start, nbytes))
        self.write(changed, readable=True)
        self.dirty.update(start for start, _ in changed)
        return changed

    def reseal(self) -> None:
        """Everything that changed was meant to."""
        self.seal([(start, nbytes, keep) for start, (nbytes, _, keep) in list(self.seals.items())])

    def export(self, regions: Iterable[Region], part: bool = False) -> None:
        """Note data that host code has got and nobody follows any further; part: further pieces add to it."""
        for start, nbytes in regions:
            self.ledger.export(Piece(start, start + nbytes, nbytes, None), "data", part)

    def write(self, regions: Iterable[Region], readable: bool) -> None:
        """Note memory that host code has written to; readable: it could read it as well, which is noted where nothing
        else has been seen to leave."""
        if readable and not any(self.ledger.left["data"].values()):
            self.export(regions)
        for start, nbytes in regions:
            self.ledger.enter(Piece(start, start + nbytes, 0, None), FOREIGN, "host code")

    def original(self, source: int, size: int) -> int:
        """Where memory of the host was copied from, if it holds that still; else 0."""
        for start, (content, origin) in self.fetched.items():
            at = source - start
            if 0 <= at <= len(content) - size and content[at : at + size] == ctypes.string_at(source, size):
                return origin + at
        return 0


_memory: _Memory | None = None


def _current() -> _Memory | None:
    global _memory
    ledger = watch._watch.ledger if watch._watch is not None else None
    if ledger is None:
        _memory = None
    elif _memory is None or _memory.ledger is not ledger:
        _memory = _Memory(ledger)
    return _memory


def fetched(tensor: Any) -> None:
    """Note that host code has got a copy of this tensor on the device, which it can read."""
    memory = _current()
    if memory is not None:
        from kengine.runner.hosttensors import regions

        memory.export(regions([tensor]))


def before_launch(
    arguments: Sequence[object], pinned: Sequence[Region] = (), fresh: Sequence[Region] = ()
) -> list[Region]:
    """Find what host code has written; the variables that the launch may read besides its arguments.

    pinned: memory that host code reads and writes by its address as kernels do. fresh: memory of the device that this
    call has allocated. No host can write there, or to what a kernel is given, but by a copy: who does it where the
    device is emulated reads the device's memory as well.
    """
    memory = _current()
    if memory is None:
        return []
    changed = memory.settle()
    if any(_holds(pinned, start) for start, _ in changed) or any(map(_is_written, pinned)):
        memory.export(pinned)
    written = [region for region in (*pinned, *fresh) if _is_written(region)]
    starts = {a[0] for a in arguments if isinstance(a, tuple)} - {start for start, _ in pinned}
    if any(region in fresh for region in written) or (memory.precise and memory.dirty & starts):
        memory.export(memory.given)
    memory.write(written, readable=False)
    return list(memory.symbols.values())


def _is_written(region: Region) -> bool:
    """Whether memory that nobody is known to have written to holds something: it is filled with 0xff when it is new."""
    return not watch.blocks([region[0]]) and ctypes.string_at(*region).count(b"\xff") != region[1]


def after_launch(pinned: Sequence[Region] = ()) -> None:
    """A launch has ended: what it changed is its own."""
    memory = _current()
    if memory is not None:
        memory.reseal()
        memory.seal([(*region, None) for region in pinned])


def copy(to: int, source: int, size: int, kind: int, device: Sequence[Region], pinned: Sequence[Region]) -> None:
    """Make a copy of `size` bytes that host code asks for, and say what it was: from the device to the host, or back.

    device: memory that kernels may touch, besides what is followed. pinned: that part of it which is the host's too.
    """
    memory = _current()
    if memory is None:
        ctypes.memmove(to, source, size)
        return
    memory.settle()
    known = {a: bool(watch.blocks([a])) or _holds(device, a) for a in (to, source)}
    from_host = not known[source] or (_holds(pinned, source) and kind == HOST_TO_DEVICE)
    to_host = kind in (HOST_TO_HOST, DEVICE_TO_HOST)
    symbol = not known[to] and not to_host and from_host
    origin = memory.original(source, size) if from_host else source
    if not from_host and (to_host or not known[to]):
        memory.export([(source, size)], part=True)
        memory.fetched[to] = ctypes.string_at(source, size), source
    if symbol or (not to_host and not known[to]):
        memory.symbols[to] = to, size
    ctypes.memmove(to, source, size)
    if known[to] or symbol:
        if origin:
            watch.operation("copy", [(origin, size)], [(to, size)])
        else:
            memory.write([(to, size)], readable=False)
    memory.seal([(start, n, keep) for start, (n, _, keep) in list(memory.seals.items()) if start <= to < start + n])
    memory.seal([(*region, None) for region in pinned if _holds([region], to)])


def fill(to: int, value: int, size: int) -> None:
    """Fill `size` bytes as host code asks for: they hold a constant then."""
    ctypes.memset(to, value, size)
    memory = _current()
    if memory is not None:
        watch.allocated([(to, size)])
        memory.seal([(start, n, keep) for start, (n, _, keep) in list(memory.seals.items()) if start <= to < start + n])


def _holds(regions: Iterable[Region], address: int) -> bool:
    return any(start <= address < start + size for start, size in regions)


@contextmanager
def inside(arguments: object, precise: bool) -> Iterator[None]:
    """Around a function of an extension: tensors of the host that its code writes to are found, and what PyTorch copies
    to the host for it.

    arguments: what the function is given. precise: its tensors of the host never lie where the device's do.
    """
    memory = _current()
    if memory is None or "torch" not in sys.modules:
        yield
        return
    from kengine.runner.hosttensors import Tensors

    tensors, before = Tensors(memory), memory.given
    memory.given, memory.precise = tensors.seal(arguments), precise
    try:
        with tensors:
            yield
        memory.settle()
    finally:
        memory.given = before
        memory.seals.clear()
        memory.dirty.clear()
        memory.sealed = 0
