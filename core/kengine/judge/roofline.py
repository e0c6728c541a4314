"""The least time in which a device can do what a case needs: bytes that must move, operations that must be done.

floor = max(bytes / (memory's rate), operations / (rate of matrix products))

    bytes      = what is written, and READ_SHARE of what must be read, each beyond what the cache holds
    must be read: an input of which SAMPLES elements, chosen at random, each change the answer when they alone change:
                 whoever does not read an element cannot know. Zeros are not counted (a triangle, a padded batch), and
                 half of a symmetric matrix tells the other half, hence READ_SHARE.
    operations = those of matrix products and convolutions of inputs and parameters as they come, whose result is as
                 large as the answer, times the share of numbers that are not zero, divided by SAVED or SAVED_SMALL:
                 algorithms with fewer operations are honest (Strassen: 7/8 a level; A A^T: half; Winograd: F(4x4, 3x3)
                 takes a quarter; Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015). Products
                 of something computed, products that are summed up afterwards, and convolutions with larger kernels
                 (which a transform does in n log n) are not counted: algebra may save all of them.
    rates      = the best that the judge measured on this device times HEADROOM, or the memory's peak if that is more;
                 of products the fastest dtype, since wide ones are put together from narrow ones.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kengine.errors import TaskError
from kengine.judge import arena, reference
from kengine.judge.leaves import arrays, dtype_name, is_float, is_torch
from kengine.judge.session import Session
from kengine.model import Case

if TYPE_CHECKING:
    from kengine.judge.clock import Instruments

SAMPLES = 16
"""If less than half of an input mattered, so many random elements would all matter once in 65536 times."""
READ_SHARE = 0.4
HEADROOM = 1.25
SAVED, SAVED_SMALL = 4.0, 6.0
LEAST_BYTES = 1 << 20
"""Inputs of less than this are not looked at: they fit into any cache."""
_NARROWER = 2.5
"""How much faster a device multiplies fp8 and integers than the halves that were measured."""


@dataclass(frozen=True)
class Work:
    """What a case needs at the least: bytes read and written, operations, and the dtype of their operands."""

    read: float = 0.0
    written: float = 0.0
    operations: float = 0.0
    narrow: bool = False


def floor(session: Session, case: Case, tools: Instruments) -> tuple[int, str] | None:
    """Nanoseconds that no kernel for this case can beat on this device, and what takes them; None when not known."""
    peak, ceilings = tools.bandwidth() or 0.0, tools.ceilings()
    rate = max(peak, HEADROOM * ceilings.bytes_per_s)
    products = HEADROOM * ceilings.best
    if not rate and not products:
        return None
    work = prepare(session, case, tools)
    times = []
    if rate and work.read + work.written > 0:
        what = "reading its inputs and writing its outputs" if work.read else "writing its outputs"
        times.append((int((work.read + work.written) / rate * 1e9), what))
    if products and work.operations > 0:
        fastest = products * (_NARROWER if work.narrow else 1.0)
        times.append((int(work.operations / fastest * 1e9), "its matrix products"))
    return max(times) if times else None


def prepare(session: Session, case: Case, tools: Instruments) -> Work:
    """What a case needs: dozens of runs of the reference, which give the same for every candidate, and need not be made
    while a device is held alone."""
    key = case.name, tools.cache_bytes()
    work = session.works.get(key)
    if work is None:
        work = session.works[key] = estimate(session, case, key[1])
    return work


def estimate(session: Session, case: Case, cache: int) -> Work:
    """The least work of a case; bytes are those beyond `cache`. Nothing where the reference raises when traced."""
    entry = session.entry(case, "check")
    memory = arena.duplicate(entry.packed.image)
    try:
        trace = _trace(session, case, memory)
        outputs = session.expected(case, "check").outputs
        returned = outputs[: len(outputs) - len(session.writes)]
        written = sum(o.nbytes for o, made in zip(returned, trace.made) if made)
        read = 0.0 if session.writes else sum(_needed(session, case, memory, trace.answer))
    except (TaskError, RuntimeError):
        return Work()
    return Work(max(READ_SHARE * read - cache, 0.0), max(float(written - cache), 0.0), trace.operations, trace.narrow)


@dataclass
class _Trace:
    answer: list[Any]
    made: list[bool]
    operations: float
    narrow: bool


def _run(session: Session, case: Case, memory: Any, within: Any = None) -> list[Any]:
    entry = session.entry(case, "check")
    seed = session.seed(case, "check/reference")
    precision = session.task.spec.tolerance.precision
    values = entry.packed.values(memory)
    return reference.run_honest(session.module, values, entry.model, session.writes, seed, precision, within).arrays()


def _trace(session: Session, case: Case, memory: Any) -> _Trace:
    """One run of the reference: its answer, which outputs are more than views of inputs, and counted operations."""
    operations, narrow = 0.0, False
    if "torch" in sys.modules:
        from kengine.judge.contractions import Contractions

        packed = session.entry(case, "check").packed
        parameters = {leaf.nbytes for leaf in packed.state.values()}
        counter = Contractions(_span(memory), parameters)
        answer = _run(session, case, memory, counter)
        sizes = {prod(tuple(a.shape)) for a in answer}
        for found in counter.found:
            if found.size in sizes:
                operations += found.operations / (SAVED_SMALL if found.convolution else SAVED)
                narrow = narrow or found.narrow
    else:
        answer = _run(session, case, memory)
    begin, end = _span(memory)
    made = [not begin <= _address(a) < end for a in answer]
    kept = [a.clone() if is_torch(a) else np.array(a) for a in answer]
    return _Trace(kept, made, operations, narrow)


def _needed(session: Session, case: Case, memory: Any, answer: list[Any]) -> Iterator[float]:
    """Bytes of each large input that must be read; `memory` is left as it was."""
    chooser = random.Random(session.seed(case, "roofline"))
    again = _run(session, case, memory)
    if not _same(answer, again):
        return  # bits that differ from run to run say nothing about an element
    for array in arrays(session.entry(case, "check").packed.values(memory)):
        size = prod(tuple(array.shape)) * array.dtype.itemsize
        if size < LEAST_BYTES or not is_float(array):
            continue
        if all(_matters(session, case, memory, array, chooser, answer) for _ in range(SAMPLES)):
            yield size * _share(array)


def _matters(session: Session, case: Case, memory: Any, array: Any, chooser: random.Random, answer: list[Any]) -> bool:
    """Whether the answer changes when one element does: to far above all others, or to far below them."""
    place = tuple(chooser.randrange(n) for n in array.shape)
    before = array[place].clone() if is_torch(array) else array[place].copy()
    # float16 ends soon: what is far for it is less far.
    far = 512.0 if dtype_name(array).startswith(("float16", "float8")) else 1e4
    try:
        for value in (far, -far):
            array[place] = value
            if not _same(answer, _run(session, case, memory)):
                return True
        return False
    finally:
        array[place] = before


def _same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b))


def _equal(a: Any, b: Any) -> bool:
    if tuple(a.shape) != tuple(b.shape):
        return False
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _share(array: Any) -> float:
    return float(int((array != 0).sum()) / max(prod(tuple(array.shape)), 1))


def _span(memory: Any) -> tuple[int, int]:
    begin = int(memory.ctypes.data) if isinstance(memory, np.ndarray) else int(memory.data_ptr())
    return begin, begin + (memory.nbytes if isinstance(memory, np.ndarray) else memory.numel())


def _address(array: Any) -> int:
    return int(array.data_ptr()) if is_torch(array) else int(np.asarray(array).ctypes.data)
