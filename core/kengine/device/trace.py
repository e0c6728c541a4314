"""What the device itself did in one followed call: its kernels by name, with those of the one who follows left out."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress

from kengine.device.activity import recorder
from kengine.device.cupti import Activity, Cupti, CuptiError
from kengine.runner import watch


class _Trace:
    """The trace under way, and when the device did something that is not the candidate's, by its own clock."""

    def __init__(self, cupti: Cupti) -> None:
        self.cupti = cupti
        self.hidden: list[tuple[int, int]] = []

    def hides(self, record: Activity) -> bool:
        # The intervals follow one another, and there are two for each launch.
        at = bisect_right(self.hidden, (record.begin_ns, sys.maxsize)) - 1
        return at >= 0 and record.begin_ns <= self.hidden[at][1]


_current: _Trace | None = None


@contextmanager
def tracing() -> Iterator[None]:
    """Around a call on a device: where it is followed, tell of every kernel that ran in it.

    Where the device cannot be traced nothing is told, which the facts show.
    """
    global _current
    stack = ExitStack()
    try:
        trace = _Trace(recorder()) if watch.active() and _current is None else None
        records = stack.enter_context(trace.cupti.record(kernels_only=True)) if trace is not None else []
    except CuptiError:
        trace, records = None, []
    if trace is None:
        yield
        return
    _current = trace
    try:
        yield
        _synchronize()
    finally:
        _current = None
        # A recorder that fails in the end is no fault of the candidate's.
        with suppress(CuptiError):
            stack.close()
    kernels = [record for record in records if record.kind == "kernel" and not trace.hides(record)]
    watch.device_kernels([(record.name, record.end_ns - record.begin_ns) for record in kernels])


@contextmanager
def launching(name: str, arguments: Iterable[object], returned: list[object] | None = None) -> Iterator[None]:
    """Around a launch on a device that happens: followed, and only the launch itself is in the trace.

    returned: see `watch.kernel`. A launch that is captured into a graph does not run, and is not followed here but
    when the graph is replayed (`kengine.device.graphs`).
    """
    if not watch.active() or _captures():
        yield
        return
    with surrounded([watch.kernel(name, arguments, returned)]):
        yield


@contextmanager
def surrounded(notes: Sequence[AbstractContextManager[None]]) -> Iterator[None]:
    """Inside of all these, which are entered and left in their order; what they do on the device is not in the
    trace."""
    entered: list[AbstractContextManager[None]] = []
    try:
        with _hidden():
            for note in notes:
                note.__enter__()
                entered.append(note)
        yield
    except BaseException as error:
        with _hidden():
            for note in entered:
                with suppress(type(error)):
                    note.__exit__(type(error), error, error.__traceback__)
        raise
    with _hidden():
        for note in entered:
            note.__exit__(None, None, None)


@contextmanager
def _hidden() -> Iterator[None]:
    trace = _current
    if trace is None:
        yield
        return
    _synchronize()
    begin = trace.cupti.now_ns()
    yield
    _synchronize()
    trace.hidden.append((begin, trace.cupti.now_ns()))


def _captures() -> bool:
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def _synchronize() -> None:
    import torch

    torch.cuda.synchronize()
