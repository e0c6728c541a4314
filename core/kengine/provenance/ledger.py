"""Memory of one call and where its contents come from, by address, so that no framework's view of it is lost."""

from __future__ import annotations

import re
import threading
from bisect import bisect_right, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from kengine.provenance.facts import Facts, KernelUse, OperatorUse, OutputOrigin
from kengine.provenance.operators import cost, find_kind

_MAKES = re.compile(r"::(?:new_)?(?:empty|zeros|ones|full)(?:_like|_strided|_permuted)?$")
"""Operators whose result holds nothing of the array whose form it takes."""
_UNWRITTEN = re.compile(r"(?:::|_)empty|^destination$")
"""Who "wrote" memory that holds nothing yet."""
_ALLOCATES = re.compile(r"::(?:new_)?empty")

INPUT, PARAMETER, KERNEL, FOREIGN = 1, 2, 4, 8
"""What the contents of a block depend on; 0: on constants alone."""


@dataclass
class Block:
    """Memory [start, end) and what is in it. `owner` keeps it from being given to somebody else meanwhile.

    older: it was first met as what a kernel was given or an operator wrote into: it was there before the call.
    """

    start: int
    end: int
    flags: int
    writer: str
    owner: Any
    older: bool = False


def allocates(operator: str) -> bool:
    """Whether an operator gives memory and writes nothing into it."""
    return _ALLOCATES.search(operator) is not None


@dataclass(frozen=True)
class Piece:
    """One array that an operator or a kernel touches: where it lies, how much of it is used, what keeps it alive."""

    start: int
    end: int
    nbytes: int
    owner: Any


@dataclass
class Ledger:
    """Blocks, operators and kernels of one call. Operators on constants and on parameters alone are not counted.

    given: forms of the arguments (`dispatch.form_of`); a copy of one as it is lays it out anew, and is no part of the
    work even where moving data is.
    """

    blocks: dict[int, Block] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    uses: dict[str, list[int]] = field(default_factory=dict)
    moved: dict[str, list[int]] = field(default_factory=dict)
    kernels: dict[str, list[int]] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    libraries: set[str] = field(default_factory=set)
    device_ns: dict[str, int] = field(default_factory=dict)
    left: dict[str, dict[int, int]] = field(default_factory=lambda: {"data": {}, "address": {}, "array": {}})
    input_bytes: int = 0
    unwritten: dict[int, int] = field(default_factory=dict)
    foreign: set[int] = field(default_factory=set)
    pointed: set[int] = field(default_factory=set)
    foreign_bytes: int = 0
    threads: int = 0
    launches: int = 0
    given: set[tuple[Any, ...]] = field(default_factory=set)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def enter(self, piece: Piece, flags: int, writer: str) -> None:
        """Say what a piece of memory holds from now on; a block of which it is a part then holds that as well."""
        if piece.end <= piece.start:
            return
        with self.lock:
            block = self.find(piece.start)
            whole = piece.nbytes >= piece.end - piece.start
            if (
                block is not None
                and block.end >= piece.end
                and (not whole or (block.start, block.end) != (piece.start, piece.end))
            ):
                block.flags |= flags
                block.writer = writer
                return
            if piece.start not in self.blocks:
                insort(self.starts, piece.start)
            self.blocks[piece.start] = Block(piece.start, piece.end, flags, writer, piece.owner)

    def find(self, address: int) -> Block | None:
        """The block that an address lies in."""
        at = bisect_right(self.starts, address)
        block = self.blocks[self.starts[at - 1]] if at else None
        return block if block is not None and address < block.end else None

    def flags(self, pieces: Iterable[Piece]) -> int:
        """What the contents of some pieces depend on; memory that nobody has written to is of foreign origin."""
        result = 0
        for piece in pieces:
            if piece.end <= piece.start:
                continue
            block = self.find(piece.start)
            result |= FOREIGN if block is None else block.flags
        return result

    def is_settled(self, pieces: Iterable[Piece]) -> bool:
        """Whether pieces hold parameters and constants alone, and nobody has been told where they lie."""
        blocks = [self.find(piece.start) for piece in pieces]
        return all(b is not None and not b.flags & ~PARAMETER and b.start not in self.pointed for b in blocks)

    def operation(
        self,
        name: str,
        read: list[Piece],
        written: list[Piece],
        flops: int = 0,
        counts: bool = True,
        given: Iterable[Piece] = (),
    ) -> None:
        """Count one call of an operator (if it counts), and let what it wrote depend on what it read.

        given: what it wrote into, of all that it wrote; memory that was not known was there before the call.
        """
        with self.lock:
            flags = 0 if _MAKES.search(name) else self.flags(read)
            older = [p.start for p in given if p.end > p.start and self.find(p.start) is None]
            for piece in written:
                self.enter(piece, flags, name)
            for start in older:
                if start in self.blocks:
                    self.blocks[start].older = True
            if not flags & INPUT or not counts:
                return
            nbytes = sum(p.nbytes for p in read) + sum(p.nbytes for p in written)
            moves = find_kind(name) == "movement"
            if moves and not written:
                return  # a look at shapes or addresses
            counted = self.moved if moves else self.uses
            use = counted.setdefault(name, [0, 0])
            use[0] += 1
            use[1] += cost(nbytes, flops)

    def kernel(self, name: str, arguments: list[Piece], changed: list[Piece]) -> None:
        """Count one launch; what it changed, and memory that held no data before, depends on all that it was given."""
        with self.lock:
            self.launches += 1
            flags = self.flags(arguments)
            self._note_foreign(arguments)
            seen = {(p.start, p.end): p.nbytes for p in arguments}
            use = self.kernels.setdefault(name, [0, 0])
            use[0] += 1
            use[1] += sum(seen.values())
            written = {(p.start, p.end): p for p in changed}
            for piece in arguments:
                block = self.find(piece.start)
                holds_nothing = block is not None and not block.flags and _UNWRITTEN.search(block.writer)
                if holds_nothing and (piece.start, piece.end) not in written:
                    self.unwritten[piece.start] = piece.nbytes
                if block is None or not block.flags & (INPUT | PARAMETER):
                    # What a kernel writes may be what happened to lie there before.
                    written[piece.start, piece.end] = piece
            given = {p.start for p in arguments}
            for piece in written.values():
                # What a kernel returns is new; what it was given and nobody has made in this call was there before.
                older = piece.start in given and self.find(piece.start) is None
                self.enter(piece, (flags & ~FOREIGN) | KERNEL, name)
                if older:
                    self.blocks[piece.start].older = True

    def export(self, piece: Piece, what: str, part: bool = False) -> None:
        """Note that `data` of an input, its `address`, or an `array` over it, was handed to code that is not followed.

        Parts add up. What is done with an array is followed, as long as it is numpy that does it.
        """
        with self.lock:
            block = self.find(piece.start)
            if block is not None and what == "address":
                self.pointed.add(block.start)
            if block is not None and block.flags & INPUT:
                had = self.left[what].get(block.start, 0)
                size = block.end - block.start
                self.left[what][block.start] = min(size, had + piece.nbytes if part else max(had, piece.nbytes))

    def expose(self, piece: Piece) -> None:
        """Say that the host may write to memory of this call that holds constants so far, without being seen."""
        with self.lock:
            block = self.find(piece.start)
            if block is not None and not block.flags:
                block.flags = FOREIGN

    def _is_written(self, piece: Piece) -> bool:
        block = self.find(piece.start)
        return block is not None and any(block.writer in names for names in (self.uses, self.moved, self.kernels))

    def _note_foreign(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            block = self.find(piece.start)
            unknown = block is None or block.flags & FOREIGN
            if piece.end > piece.start and unknown and piece.start not in self.foreign:
                self.foreign.add(piece.start)
                self.foreign_bytes += piece.nbytes

    def facts(self, returned: list[Piece], followed: bool = True, written: Iterable[Piece] = ()) -> Facts:
        """Everything seen, and the origin of what was returned and of those inputs to be `written` that were."""
        with self.lock:
            origins = []
            for piece in [*returned, *(p for p in written if self._is_written(p))]:
                block = self.find(piece.start)
                flags = FOREIGN if block is None else block.flags
                writer = "" if block is None else block.writer
                older = block is None or block.older
                origins.append(
                    OutputOrigin(bool(flags & INPUT), bool(flags & KERNEL), bool(flags & FOREIGN), writer[:200], older)
                )
            self._note_foreign(returned)
            return Facts(
                _ranked(self.uses),
                tuple(KernelUse(name[:200], n, size) for name, (n, size) in list(self.kernels.items())[:200]),
                tuple(origins[:200]),
                self.input_bytes,
                sum(self.left["data"].values()),
                sum(self.left["address"].values()),
                self.foreign_bytes,
                sum(self.unwritten.values()),
                tuple(sorted(self.opaque))[:50],
                self.threads,
                tuple(sorted(self.libraries))[:50],
                {name[:200]: ns for name, ns in list(self.device_ns.items())[:200]},
                followed,
                _ranked(self.moved),
                sum(self.left["array"].values()),
            )


def _ranked(uses: dict[str, list[int]]) -> tuple[OperatorUse, ...]:
    """The operators that cost most, first."""
    ranked = sorted(uses.items(), key=lambda item: -item[1][1])
    return tuple(OperatorUse(name[:200], find_kind(name), n, size) for name, (n, size) in ranked[:200])
