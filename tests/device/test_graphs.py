"""CUDA graphs against a double: what is captured does not count, each replay does, and a replay can be withheld."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
    pytest.skip("needs torch and triton", allow_module_level=True)

import torch
from kengine.device import graphs, trace
from kengine.device.cupti import CuptiError
from kengine.errors import CandidateFault
from kengine.model import Launch, Mode
from kengine_triton import observe
from native_inputs import make_inputs
from torch.utils._python_dispatch import TorchDispatchMode
from watch_support import Seen, followed


class Stream:
    """The one stream of the double: the graph that it captures into, if any."""

    graph: Any = None


class Captured(TorchDispatchMode):
    """Puts operators into the graph; what they make is made at once, as memory without contents is on a device."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if Stream.graph is None:
            return func(*args, **kwargs)
        if func._schema.name == "aten::empty_like":
            return func(*args, **kwargs).fill_(-1)
        if func._schema.name == "aten::copy_":
            Stream.graph.work.append(lambda: args[0].copy_(args[1]))
            return args[0]
        result = torch.full_like(func(*args, **kwargs), -1)
        Stream.graph.work.append(lambda: result.copy_(func(*args, **kwargs)))
        return result


class Graph:
    """Stands for torch._C._CUDAGraph."""

    def __init__(self) -> None:
        self.work: list[Callable[[], Any]] = []
        self.mode = Captured()

    def capture_begin(self, pool: Any = None, capture_error_mode: str = "global") -> None:
        self.work = []
        self.mode.__enter__()
        Stream.graph = self

    def capture_end(self) -> None:
        Stream.graph = None
        self.mode.__exit__(None, None, None)

    def replay(self) -> None:
        for each in self.work:
            each()


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def no_trace() -> Any:
        raise CuptiError("a double has none")

    monkeypatch.setattr(Graph, "capture_begin", Graph.capture_begin)
    monkeypatch.setattr(Graph, "capture_end", Graph.capture_end)
    monkeypatch.setattr(Graph, "replay", Graph.replay)
    monkeypatch.setattr(torch._C, "_CUDAGraph", Graph)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: Stream.graph is not None)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda *_: None)
    monkeypatch.setattr(trace, "recorder", no_trace)
    monkeypatch.setattr(graphs, "_observer", None)
    registered: dict[str, Any] = {}
    monkeypatch.setattr(graphs.state, "register", registered.__setitem__)
    graphs.install(lambda: observe._current)
    assert registered == {"torch._C._CUDAGraph": Graph}
    yield
    assert graphs._captures == [] and Stream.graph is None


def kernel(name: str, body: Callable[..., None]) -> Callable[..., None]:
    """A compiled kernel of two arrays, launched the way that Triton does it."""
    function = SimpleNamespace(__name__=name, arg_names=["x", "y"])
    compiled = SimpleNamespace(hash=name, name=name, src=SimpleNamespace(fn=function))

    def launch(x: int, y: int, z: int, *args: Any) -> None:
        given = args[-2:]
        with torch.utils._python_dispatch._disable_current_modes():
            work = lambda: body(*given)  # noqa: E731
            Stream.graph.work.append(work) if Stream.graph is not None else work()

    run = observe._observed(compiled, launch)
    return lambda *args: run(4, 1, 1, 0, None, None, None, None, None, *args)


twice = kernel("twice", lambda x, y: y.copy_(2 * x))
plus_one = kernel("plus_one", lambda x, y: y.copy_(x + 1))


class Candidate:
    """Two kernels and what lies between them, captured once over buffers of its own and replayed for every call."""

    def __init__(self, between: Callable[[Any], Any] = lambda x: x) -> None:
        self.graph, self.between = None, between

    def __call__(self, x: Any) -> Any:
        if self.graph is None:
            self.x, middle, self.out = torch.zeros_like(x), torch.empty_like(x), torch.empty_like(x)
            graph = Graph()
            graph.capture_begin(pool=None)
            twice(self.x, middle)
            plus_one(self.between(middle), self.out)
            graph.capture_end()
            self.graph = graph
        self.x.copy_(x)
        self.graph.replay()
        return self.out.clone()


def call(candidate: Any, x: Any, mode: Mode = Mode.normal) -> tuple[Any, tuple[Launch, ...]]:
    with observe.observing(mode) as seen:
        value = candidate(x)
    return value, tuple(seen.launches)


def follow(candidate: Any, x: Any) -> Seen:
    from kengine.runner import watch

    inputs = make_inputs(x)

    def made() -> Any:
        with observe.observing(Mode.traced), trace.tracing(), watch.entered():
            return candidate(*(a.as_torch() for a in inputs.args))

    return followed(inputs, made)


X = torch.tensor([1.0, 2.0, 3.0, 4.0])


def test_every_replay_counts_its_launches(device: None) -> None:
    candidate = Candidate()
    for x in (X, X + 10):
        value, launches = call(candidate, x)
        assert torch.equal(value, 2 * x + 1)
        assert launches == (Launch("twice", (4,)), Launch("plus_one", (4,)))


def test_what_is_captured_and_not_replayed_does_not_count(device: None) -> None:
    def candidate(x: Any) -> Any:
        graph, y = Graph(), torch.zeros_like(x)
        graph.capture_begin()
        twice(x, y)
        graph.capture_end()
        return y

    value, launches = call(candidate, X)
    assert launches == () and torch.equal(value, torch.zeros(4))


def test_a_replay_is_withheld_where_launches_are(device: None) -> None:
    candidate = Candidate()
    call(candidate, X)
    value, launches = call(candidate, X + 10, Mode.noop)
    assert launches == () and torch.equal(value, 2 * X + 1)
    with pytest.raises(observe.LaunchRefused, match="'twice' was refused"):
        call(candidate, X, Mode.raises)
    assert torch.equal(call(candidate, X + 5)[0], 2 * (X + 5) + 1)


def test_a_replay_is_followed_from_inputs_to_outputs(device: None) -> None:
    candidate = Candidate()
    call(candidate, X)
    seen = follow(candidate, X + 3)
    assert torch.equal(seen.value, 2 * (X + 3) + 1)
    assert seen.kernels == {"twice": 1, "plus_one": 1}
    assert seen.origins == [(True, True, False)]


def test_capture_and_replay_in_the_call_that_is_followed(device: None) -> None:
    seen = follow(Candidate(), X)
    assert seen.kernels == {"twice": 1, "plus_one": 1} and seen.origins == [(True, True, False)]


def test_operators_in_a_graph_are_operators_of_the_call(device: None) -> None:
    candidate = Candidate(lambda middle: torch.mm(middle.reshape(2, 2), middle.reshape(2, 2)).reshape(4))
    want = torch.mm((2 * X).reshape(2, 2), (2 * X).reshape(2, 2)).reshape(4) + 1
    assert torch.equal(call(candidate, X)[0], want)
    seen = follow(candidate, X)
    assert torch.equal(seen.value, want)
    (product,) = [use for use in seen.facts.operators if use.name == "aten::mm"]
    # Two operands of 16 bytes that are one memory, the product, and 2 x 2 x 2 x 2 operations: more than nothing.
    assert product.count == 1 and product.cost >= 48
    assert "aten::mm" not in follow(Candidate(), X).operators


def test_operators_on_a_stream_that_is_not_captured_are_seen_at_once(device: None) -> None:
    def candidate(x: Any) -> Any:
        graph = Graph()
        graph.capture_begin()
        captured, Stream.graph = Stream.graph, None  # as on another stream, while the first one is captured
        y = torch.exp(x)
        Stream.graph = captured
        graph.capture_end()
        return y

    seen = follow(candidate, X)
    assert torch.equal(seen.value, torch.exp(X)) and seen.operators == {"aten::exp": 1}


def test_a_launch_whose_memory_is_not_known_cannot_be_judged(device: None) -> None:
    graph = Graph()
    graph.capture_begin()
    try:
        with pytest.raises(CandidateFault, match="captured into a CUDA graph") as caught:
            twice(1234, 5678)
        assert caught.value.status == "unsupported"
        with pytest.raises(CandidateFault, match="a function of an extension is captured"):
            graphs.refuse("a function of an extension")
    finally:
        graph.capture_end()
    graphs.refuse("nothing is captured now")


def test_a_graph_of_operators_alone_counts_nothing_and_runs_in_every_mode(device: None) -> None:
    graph, y = Graph(), torch.zeros(4)
    graph.capture_begin()
    z = torch.exp(y)
    graph.capture_end()
    _, launches = call(lambda _: graph.replay(), X, Mode.noop)
    assert launches == () and torch.equal(z, torch.ones(4))


def test_a_torch_without_devices_has_nothing_to_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "_observer", None)
    monkeypatch.setattr(torch._C, "_CUDAGraph", type("Nothing", (), {}))
    graphs.install(lambda: observe._current)
    assert graphs._observer is not None


def test_a_replay_in_a_stream_that_nobody_waits_for(device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from kengine.device import streams
    from stream_doubles import Device

    x, y, z = torch.ones(4), torch.zeros(4), torch.zeros(4)
    graph = Graph()
    graph.capture_begin()
    twice(x, y)
    plus_one(y, z)
    graph.capture_end()
    double = Device().install(monkeypatch)
    late = []
    for joined in (True, False):
        with streams.calling(True) as left:
            with torch.cuda.stream(double.stream(3)):
                graph.replay()
            if joined:
                double.home.wait_stream(double.stream(3))
            streams.wait()
            late.append(left())
    assert late == [(), ("twice, plus_one",)] and z.tolist() == [3.0] * 4
