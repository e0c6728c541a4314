"""Work of a call on streams that its caller does not wait for.

Whoever uses a result goes on in the stream that was current when he called. What a call does in another stream must be
ordered before that (`wait_stream`, an event), or he reads what is not there yet. A wait for the whole device would hide
this, so the caller's stream alone is waited for, what the call gave is read in it, and only then comes the device.

That unjoined work comes too late must not be luck. A launch in another stream is held up before it, so that who does
not wait for it reads too early, and its stream is kept busy for a moment after it, so that it is still at work when the
caller's has ended. Work that is joined comes later by that and is right. The second hold is also seen where all streams
share one queue to the device (`kengine.device.contexts`), in which the first would hold up the caller as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

BEFORE_CYCLES = 60_000_000
"""How long a stream is held up before its first launch, about 30 ms: a result is read a few ms after the call."""
AFTER_CYCLES = 20_000_000
"""How long it is kept busy after a launch, about 10 ms."""
HELD = 8
"""Launches of one stream in one call after which it is kept busy; more would take a patient candidate too long."""

_LEGACY = 1
"""Another handle of the default stream, which is 0 for torch."""


@dataclass
class _Aside:
    """A stream other than the caller's. end: an event after all that was seen in it; an event of our own, since the
    stream may be gone when it is asked for."""

    end: Any
    launches: int = 0
    kernels: set[str] = field(default_factory=set)


@dataclass
class _Call:
    """The call under way. home: the caller's stream. streams: the others, by handle. late: kernels that were still at
    work when home had ended."""

    home: Any
    streams: dict[int, _Aside] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)


_current: _Call | None = None
_nothing: AbstractContextManager[None] = nullcontext()


@contextmanager
def calling(on_device: bool) -> Iterator[Callable[[], tuple[str, ...]]]:
    """Around a call and the reading of what it gave; what is given tells kernels that the caller's stream does not wait
    for, once `wait` has been called. At the end of the block the device has finished everything.

    Does nothing in a process without a device. Raises what the device reports at the end.
    """
    global _current
    torch = sys.modules.get("torch")
    if not on_device or torch is None or not torch.cuda.is_initialized():
        yield tuple
        return
    call = _current = _Call(torch.cuda.current_stream())
    try:
        yield lambda: tuple(sorted(call.late))
    except BaseException:
        _current = None
        # A device that is broken says so again; what went wrong first is what counts.
        with suppress(RuntimeError):
            _end(call)
        raise
    _current = None
    _end(call)


def wait() -> None:
    """After a call, wait for its caller's stream, which is the current one again; outside of `calling` for the device.

    Raises what the device reports.
    """
    import torch

    if _current is None:
        torch.cuda.synchronize()
        return
    _return_to(_current)
    if _current.streams:
        # One thing more in the caller's stream: the default one then waits for every stream that blocks.
        torch.cuda._sleep(1)
    _current.home.synchronize()
    for aside in _current.streams.values():
        if not aside.end.query():
            _current.late |= aside.kernels


def watching() -> bool:
    """Whether a call is under way whose launches in other streams matter."""
    return _current is not None


def launching(kernel: str, stream: int | None = None) -> AbstractContextManager[None]:
    """Around a launch that really happens, in the stream with this handle; None for torch's current one."""
    if _current is None:
        return _nothing
    import torch

    handle = int(torch.cuda.current_stream().cuda_stream) if stream is None else stream
    handle = 0 if handle == _LEGACY else handle
    if handle == int(_current.home.cuda_stream) or torch.cuda.is_current_stream_capturing():
        return _nothing
    return _held(_current, handle, kernel)


def note(kernels: set[str]) -> None:
    """Note kernels that the device's own record shows at work when the caller's stream had ended."""
    if _current is not None:
        _current.late |= kernels


@contextmanager
def _held(call: _Call, handle: int, kernel: str) -> Iterator[None]:
    import torch

    stream: Any = torch.cuda.ExternalStream(handle, device=call.home.device)
    if _captures(stream):
        yield
        return
    aside = call.streams.get(handle)
    if aside is None:
        aside = call.streams[handle] = _Aside(torch.cuda.Event())
        _hold(stream, BEFORE_CYCLES)
    yield
    aside.launches += 1
    aside.kernels.add(kernel)
    if aside.launches <= HELD:
        _hold(stream, AFTER_CYCLES)
    aside.end.record(stream)


def _captures(stream: Any) -> bool:
    """Whether work in a stream goes into a graph: one that host code in C++ captures is not torch's current one."""
    import torch

    with torch.cuda.stream(stream):
        return bool(torch.cuda.is_current_stream_capturing())


def _hold(stream: Any, cycles: int) -> None:
    import torch

    with torch.cuda.stream(stream):
        torch.cuda._sleep(cycles)


def _end(call: _Call) -> None:
    import torch

    _return_to(call)
    torch.cuda.synchronize()


def _return_to(call: _Call) -> None:
    """The caller's stream is his, whatever stream the call has left current."""
    import torch

    if torch.cuda.current_stream() != call.home:
        torch.cuda.set_stream(call.home)
