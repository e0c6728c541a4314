"""CUDA graphs of torch: what is captured does not run, and a replay runs all of it where no launch is seen.

So launches are noted while a graph is captured, with the operators between them, and told again at each replay: then
they count, are withheld in the modes that withhold launches, and are followed where the call is followed. A launch
whose memory is not known when it is captured must be refused by whoever sees it (`refuse`).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from kengine.device import streams
from kengine.device.trace import surrounded
from kengine.errors import CandidateFault
from kengine.provenance.ledger import Ledger, Piece
from kengine.runner import state, watch


class Observer(Protocol):
    """The observation of launches under way, of whichever plugin."""

    def starts(self, kernel: str) -> bool: ...
    def completed(self, kernel: str, grid: tuple[int, ...]) -> None: ...


Place = tuple[int, int]
"""Address and bytes of an array. Nothing holds the memory: a graph's own pool is reused while it is captured."""


@dataclass(frozen=True)
class Launched:
    """A kernel in a graph."""

    name: str
    grid: tuple[int, ...]
    memory: tuple[Place, ...]


@dataclass(frozen=True)
class Operated:
    """An operator in a graph."""

    name: str
    read: tuple[Place, ...]
    written: tuple[Place, ...]
    flops: int


class Capture(Ledger):
    """What is being captured, in order; operators write themselves into it as into the ledger of a call."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Launched | Operated] = []
        self.mode: Any = None

    def operation(
        self,
        name: str,
        read: list[Piece],
        written: list[Piece],
        flops: int = 0,
        counts: bool = True,
        given: Iterable[Piece] = (),
    ) -> None:
        """Note an operator instead of counting it."""
        places = [tuple((p.start, p.end - p.start) for p in pieces) for pieces in (read, written)]
        self.events.append(Operated(name, places[0], places[1], flops))


_captures: list[tuple[Any, Capture]] = []
_graphs: weakref.WeakKeyDictionary[Any, list[Launched | Operated]] = weakref.WeakKeyDictionary()
_observer: Callable[[], Observer] | None = None


def install(observer: Callable[[], Observer]) -> None:
    """Watch graphs of torch in this process, once; `observer` gives the observation of the moment."""
    global _observer
    import torch

    graph: Any = getattr(torch._C, "_CUDAGraph", None)
    first, _observer = _observer is None, observer
    if not first or not hasattr(graph, "replay"):  # a torch without devices has a class that stands for nothing
        return
    state.register("torch._C._CUDAGraph", graph)
    begin, end, replay = graph.capture_begin, graph.capture_end, graph.replay

    def capture_begin(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = begin(self, *args, **kwargs)
        _begin(self)
        return result

    def capture_end(self: Any) -> Any:
        _end(self)
        return end(self)

    def replay_graph(self: Any) -> Any:
        return _replay(self, lambda: replay(self))

    graph.capture_begin, graph.capture_end, graph.replay = capture_begin, capture_end, replay_graph


def capturing() -> bool:
    """Whether what is launched on the current stream goes into a graph of torch instead of running."""
    if not _captures:
        return False
    import torch

    return bool(torch.cuda.is_current_stream_capturing())


def captured(name: str, grid: tuple[int, ...], arrays: Callable[[], Iterable[Any]]) -> bool:
    """Note a launch that has just gone into a graph; False when it has not, and ran.

    arrays: gives what the kernel gets: tensors, or (address, bytes).
    """
    if not capturing():
        return False
    memory = tuple(place for array in arrays() for place in _places(array))
    _captures[-1][1].events.append(Launched(name, grid, memory))
    return True


def refuse(what: str) -> None:
    """Raise CandidateFault (unsupported) where such a launch would go into a graph, whose replay nobody can follow."""
    if capturing():
        raise CandidateFault(
            "unsupported", f"{what} is captured into a CUDA graph, whose replays cannot be followed; launch it directly"
        )


def _begin(graph: Any) -> None:
    capture = Capture()
    capture.mode = _listen(capture)
    capture.mode.__enter__()
    _captures.append((graph, capture))


def _end(graph: Any) -> None:
    for place, (other, capture) in enumerate(_captures):
        if other is graph:
            del _captures[place]
            capture.mode.__exit__(None, None, None)
            _graphs[graph] = capture.events
            return


def _listen(capture: Capture) -> Any:
    """A mode of torch that writes operators into a capture: those that run on another stream meanwhile are not its."""
    import torch

    from kengine.provenance.dispatch import Follower
    from kengine.provenance.modes import DispatchMode

    follower = Follower(capture)

    class Listening(DispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if not torch.cuda.is_current_stream_capturing():
                return func(*args, **(kwargs or {}))
            with watch.pause():  # it is not done yet: a call that is followed is told of it by the replay
                return follower.__torch_dispatch__(func, types, args, kwargs)

    return Listening()


def _replay(graph: Any, run: Callable[[], Any]) -> Any:
    events = _graphs.get(graph, [])
    launches = [event for event in events if isinstance(event, Launched)]
    observer = _observer() if _observer is not None else None
    if observer is not None and not all(observer.starts(launch.name) for launch in launches):
        return None  # one that is withheld withholds all of it
    if watch.active():
        with surrounded([_told(event) for event in events]), watch.pause():
            result = run()
    else:
        with streams.launching(", ".join(dict.fromkeys(launch.name for launch in launches)) or "a graph"):
            result = run()
    if observer is not None:
        for launch in launches:
            observer.completed(launch.name, launch.grid)
    return result


def _told(event: Launched | Operated) -> AbstractContextManager[None]:
    if isinstance(event, Launched):
        return watch.kernel(event.name, event.memory)
    return _Operation(event)


class _Operation(AbstractContextManager[None]):
    """An operator of a graph, told when the graph has been replayed."""

    def __init__(self, event: Operated) -> None:
        self.event = event

    def __exit__(self, *error: Any) -> None:
        if error[0] is None:
            watch.operation(self.event.name, self.event.read, self.event.written, self.event.flops)


def _places(array: Any) -> list[Place]:
    if isinstance(array, tuple):
        return [array]
    from kengine.provenance.dispatch import piece

    found = piece(array)
    return [] if found is None else [(found.start, found.end - found.start)]
