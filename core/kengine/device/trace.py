"""What the device itself did in one followed call: its kernels by name, with those of the one who follows left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from kengine.device.activity import recorder
from kengine.device.cupti import Activity, Cupti, CuptiError
from kengine.runner import watch


class _Trace:
    """The trace under way, and when the device did something that is not the candidate's, by its own clock."""

    def __init__(self, cupti: Cupti) -> None:
        self.cupti = cupti
        self.hidden: list[tuple[int, int]] = []

    def hides(self, record: Activity) -> bool:
        return any(begin <= record.begin_ns <= end for begin, end in self.hidden)


_current: _Trace | None = None


@contextmanager
def tracing() -> Iterator[None]:
    """Around a call on a device: where it is followed, tell of every kernel that ran in it.

    Where the device cannot be traced nothing is told, which the facts show.
    """
    global _current
    with ExitStack() as stack:
        try:
            trace = _Trace(recorder()) if watch.active() and _current is None else None
            records = stack.enter_context(trace.cupti.record()) if trace is not None else []
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
    kernels = [record for record in records if record.kind == "kernel" and not trace.hides(record)]
    watch.device_kernels([(record.name, record.end_ns - record.begin_ns) for record in kernels])


@contextmanager
def launching(name: str, arguments: Iterable[object], returned: list[object] | None = None) -> Iterator[None]:
    """Around a launch on a device that happens: followed, and only the launch itself is in the trace.

    returned: see `watch.kernel`. A launch that is captured into a graph does not run, and is not followed.
    """
    if not watch.active() or _captures():
        yield
        return
    kernel = watch.kernel(name, arguments, returned)
    with _hidden():
        kernel.__enter__()
    try:
        yield
    except BaseException as error:
        with _hidden():
            kernel.__exit__(type(error), error, error.__traceback__)
        raise
    with _hidden():
        kernel.__exit__(None, None, None)


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
