"""What the device itself did in one followed call: its kernels by name, with those of the one who follows left out."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress

from kengine.device import streams
from kengine.device.activity import recorder
from kengine.device.cupti import Activity, Cupti, CuptiError
from kengine.device.marks import Marks
from kengine.runner import turn, watch


class _Trace:
    """The trace under way, with a mark in it before and after each thing that is not the candidate's, and two in the
    caller's stream: at the beginning, and when that stream has ended."""

    def __init__(self, cupti: Cupti) -> None:
        self.cupti = cupti
        self.marks = Marks()
        self.ended: int | None = None
        self.hidden: list[tuple[int, int]] = []
        self.hiding = False

    def begin(self) -> None:
        """Leave the mark that tells which stream is the caller's."""
        _synchronize()
        self.marks()

    def end(self) -> None:
        """The caller's stream has ended: leave a mark in it, beside which nothing of the candidate's may run."""
        with suppress(CuptiError):
            self.marks()
            self.ended = len(self.marks) - 1

    def kernels(self, records: Sequence[Activity]) -> tuple[list[Activity], list[Activity]]:
        """The candidate's kernels, and those of them in other streams that the caller's did not wait for, all by the
        device's clock.

        Raises CuptiError when the marks are not all there.
        """
        marks = self.marks.find(records)
        opened = [marks[first].begin_ns for first, _ in self.hidden]
        closed = [marks[last].begin_ns for _, last in self.hidden]

        def hides(record: Activity) -> bool:
            # By both ends: what another stream begins while a mark is left is not between two of them.
            at = bisect_right(opened, record.begin_ns) - 1
            return at >= 0 and record.end_ns <= closed[at]

        seen = [record for record in records if record.kind == "kernel" and not hides(record)]
        if self.ended is None:
            return seen, []
        home, ended = marks[0].stream, marks[self.ended].begin_ns
        return seen, [record for record in seen if record.stream != home and record.end_ns > ended]


_current: _Trace | None = None


@contextmanager
def tracing() -> Iterator[None]:
    """Around a call on a device: where it is followed, tell of every kernel that ran in it, except for operators on
    parameters and constants alone, and of those that its caller's stream did not wait for (`kengine.device.streams`).

    Where the device cannot be traced nothing is told, which the facts show.
    """
    global _current
    stack = ExitStack()
    try:
        trace = _Trace(recorder()) if watch.active() and _current is None else None
        records = stack.enter_context(trace.cupti.record()) if trace is not None else []
        if trace is not None:
            trace.begin()
    except BaseException as error:
        with suppress(CuptiError):
            stack.close()
        if not isinstance(error, CuptiError):
            raise
        trace, records = None, []
    if trace is None:
        yield
        return
    _current = trace
    watch.set_apart(_hidden)
    kernels: list[Activity] = []
    late: list[Activity] = []
    try:
        yield
        streams.wait()
        trace.end()
        _synchronize()
    finally:
        _current = None
        watch.set_apart(None)
        # A recorder that fails in the end is no fault of the candidate's.
        with suppress(CuptiError):
            stack.close()
            kernels, late = trace.kernels(records)
    streams.note({record.name for record in late})
    watch.device_kernels([(record.name, record.end_ns - record.begin_ns) for record in kernels])


@contextmanager
def launching(
    name: str, arguments: Iterable[object], returned: list[object] | None = None, stream: int | None = None
) -> Iterator[None]:
    """Around a launch on a device that happens: followed, and only the launch itself is in the trace.

    returned: see `watch.kernel`. stream: handle of the stream that it goes to, None for torch's current one. A launch
    that is captured into a graph does not run, and is not followed here but when the graph is replayed
    (`kengine.device.graphs`).
    """
    turn.take()
    if not watch.active():
        with streams.launching(name, stream):
            yield
        return
    if _captures():
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
    if trace is None or trace.hiding:
        yield
        return
    first = _mark(trace)
    trace.hiding = True
    try:
        yield
    finally:
        trace.hiding = False
    trace.hidden.append((first, _mark(trace)))


def _mark(trace: _Trace) -> int:
    _synchronize()
    # A record that lacks a mark is of no use in the end; the call goes on.
    with suppress(CuptiError):
        trace.marks()
    return len(trace.marks) - 1


def _captures() -> bool:
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def _synchronize() -> None:
    import torch

    torch.cuda.synchronize()
