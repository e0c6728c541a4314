"""One call of the candidate, followed: plugins report kernels here, PyTorch's and numpy's operators report themselves.

Everything costs next to nothing while no call is followed. What comes out is the word of a process in which the
candidate ran.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager as Context
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from kengine.array import Array
from kengine.provenance import Facts, callers, contents, mappings
from kengine.provenance.ledger import INPUT, PARAMETER, Ledger, Piece

if TYPE_CHECKING:
    from kengine.provenance.dispatch import Follower
    from kengine.runner.arena import Bundle


class _Watch:
    """The call that is followed now. on_device: memory is not the host's and cannot be read through a pointer."""

    def __init__(self, on_device: bool) -> None:
        self.ledger = Ledger()
        self.on_device = on_device
        self.follower: Follower | None = None
        self.depth = 0


_watch: _Watch | None = None
_nothing: Context[None] = nullcontext()


def prepare() -> None:
    """Before any candidate is loaded: have the bodies of custom operators and new threads be followed as well."""
    if "torch" in sys.modules:
        from kengine.provenance.dispatch import wrap_custom_operators

        wrap_custom_operators(_inside_an_operator)
    if "numpy" in sys.modules:
        from kengine.provenance import numeric  # noqa: F401
    _follow_threads()
    mappings.vendors()  # every fork then knows those that are here already


def active() -> bool:
    """Whether a call is followed."""
    return _watch is not None


@contextmanager
def watching(bundle: Bundle, on_device: bool) -> Iterator[Callable[..., Facts]]:
    """Follow the call that is made inside; gives what turns what came of it, and written inputs, into facts."""
    global _watch
    watch = _watch = _Watch(on_device)
    for region in bundle.regions:
        piece = Piece(region.start, region.end, region.end - region.start, bundle)
        is_input = region.label.startswith("arg ")
        watch.ledger.enter(piece, INPUT if is_input else PARAMETER, region.label)
        watch.ledger.input_bytes += piece.nbytes if is_input else 0
    if bundle.arena.nbytes:
        for array in bundle.inputs.destination:
            for each in _pieces(array):
                watch.ledger.enter(each, 0, "destination")
    before = mappings.vendors()
    if "torch" in sys.modules:
        from kengine.provenance.dispatch import Follower

        watch.follower = Follower(watch.ledger)

    def facts(value: Any, written: Sequence[Any] = ()) -> Facts:
        watch.ledger.libraries |= mappings.vendors() - before
        return watch.ledger.facts(list(_returned(value)), written=list(_returned(list(written))))

    try:
        yield facts
    finally:
        _watch = None
        if "numpy" in sys.modules:
            from kengine.provenance import numeric

            numeric.attach(None)


@contextmanager
def entered() -> Iterator[None]:
    """Around the candidate's own code: its operators are noted."""
    watch = _watch
    if watch is None or watch.depth:
        yield
        return
    watch.depth += 1
    try:
        with ExitStack() as stack:
            if watch.follower is not None:
                stack.enter_context(watch.follower)
                stack.enter_context(_tensor_exports(watch))
            if "numpy" in sys.modules:
                from kengine.provenance import numeric

                numeric.attach(watch.ledger)
            yield
    finally:
        watch.depth -= 1


def argument(value: Any) -> Any:
    """An argument as the candidate gets it. While a call is followed, a numpy array tells what is done with it, and
    the form of a tensor is noted."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if _watch is not None and torch is not None and isinstance(value, torch.Tensor):
        from kengine.provenance.dispatch import form_of

        _watch.ledger.given.add(form_of(value))
    if _watch is None or numpy is None or type(value) is not numpy.ndarray:
        return value
    from kengine.provenance.numeric import watched

    return watched(value)


def bare(value: Any, depth: int = 0) -> Any:
    """What a call gave without the watching: numpy arrays of numpy's own class over the same memory."""
    numeric = sys.modules.get("kengine.provenance.numeric")
    if numeric is None or depth > 12:
        return value
    if type(value) is numeric.WatchedArray:
        return value.view(sys.modules["numpy"].ndarray)
    if type(value) in (list, tuple):
        return type(value)(bare(item, depth + 1) for item in value)
    if type(value) is dict:
        return {key: bare(item, depth + 1) for key, item in value.items()}
    return value


def pause() -> Context[None]:
    """Around host work that is a plugin's own."""
    return _paused(_watch) if _watch is not None else _nothing


def resume() -> Context[None]:
    """Around the candidate's own host code where it runs inside of something that is paused or a launch."""
    return _resumed(_watch) if _watch is not None else _nothing


@contextmanager
def unseen() -> Iterator[None]:
    """Around a further call of the candidate that a plugin makes for itself: nothing of it is noted."""
    global _watch
    watch, _watch = _watch, None
    numeric = sys.modules.get("kengine.provenance.numeric")
    if numeric is not None and watch is not None:
        numeric.pause(1)
    try:
        yield
    finally:
        _watch = watch
        if numeric is not None and watch is not None:
            numeric.pause(-1)


def kernel(name: str, arguments: Iterable[object], returned: list[object] | None = None) -> Context[None]:
    """Around the execution of one launch that really happens, with every array that the kernel gets: tensors, arrays,
    `kengine.array.Array`, or (address, bytes).

    returned: a list that is filled inside with the arrays that the kernel makes, where kernels return their results.
    """
    return _kernel(_watch, name, arguments, returned) if _watch is not None else _nothing


def operation(name: str, inputs: Iterable[object], outputs: Iterable[object], flops: int = 0) -> None:
    """Note an operator of a library that is neither PyTorch nor numpy, named `library::operator`.

    flops: of a contraction, whose bytes say too little of its cost.
    """
    if _watch is not None:
        with _paused(_watch):
            read, written = [p for v in inputs for p in _pieces(v)], [p for v in outputs for p in _pieces(v)]
        _watch.ledger.operation(name, read, written, flops)


def allocated(arrays: Iterable[object]) -> None:
    """Note memory that a library has given out and nobody has written to; what is known of it already stays."""
    if _watch is not None:
        for each in [p for value in arrays for p in _pieces(value)]:
            if _watch.ledger.find(each.start) is None:
                _watch.ledger.enter(each, 0, "allocation")


def blocks(addresses: Iterable[int]) -> list[tuple[int, int]]:
    """Start and size of the known memory that each address lies in; one that lies in none is left out."""
    if _watch is None:
        return []
    found = (_watch.ledger.find(address) for address in addresses)
    return list(dict.fromkeys((block.start, block.end - block.start) for block in found if block is not None))


def device_kernels(names_and_ns: Sequence[tuple[str, int]]) -> None:
    """Note what the device's own trace saw in this call: names of kernels and nanoseconds."""
    if _watch is not None:
        for name, ns in names_and_ns:
            _watch.ledger.device_ns[name] = _watch.ledger.device_ns.get(name, 0) + int(ns)


def set_apart(around: Callable[[], Context[None]] | None) -> None:
    """Have operators on parameters and constants alone run inside of this, for who accounts for the device's time."""
    if _watch is not None and _watch.follower is not None:
        _watch.follower.around = around


def libraries(names: Iterable[str]) -> None:
    """Note shared libraries that this call loaded or that an extension is linked with."""
    if _watch is not None:
        _watch.ledger.libraries.update(names)


@contextmanager
def _paused(watch: _Watch) -> Iterator[None]:
    numeric = sys.modules.get("kengine.provenance.numeric")
    if watch.follower is not None:
        watch.follower.paused += 1
    if numeric is not None:
        numeric.pause(1)
    try:
        yield
    finally:
        if watch.follower is not None:
            watch.follower.paused -= 1
        if numeric is not None:
            numeric.pause(-1)


@contextmanager
def _resumed(watch: _Watch) -> Iterator[None]:
    numeric = sys.modules.get("kengine.provenance.numeric")
    follower = watch.follower
    depth, host = (follower.paused if follower is not None else 0), (numeric.paused() if numeric is not None else 0)
    if follower is not None:
        follower.paused = 0
    if numeric is not None:
        numeric.pause(-host)
    try:
        yield
    finally:
        if follower is not None:
            follower.paused = depth
        if numeric is not None:
            numeric.pause(host)


@contextmanager
def _kernel(watch: _Watch, name: str, arguments: Iterable[object], returned: list[object] | None) -> Iterator[None]:
    with _paused(watch):
        pieces = list({(p.start, p.end): p for a in arguments for p in _pieces(a)}.values())
        before = [contents.digest(p.start, p.end, watch.on_device) for p in pieces]
        yield
        after = [contents.digest(p.start, p.end, watch.on_device) for p in pieces]
        changed = [p for p, one, other in zip(pieces, before, after) if not contents.same(one, other)]
        changed += [p for value in returned or () for p in _pieces(value)]
    watch.ledger.kernel(name, pieces, changed)


def _pieces(value: object) -> Iterator[Piece]:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        from kengine.provenance.dispatch import piece

        with torch._C.DisableTorchFunction():
            found = piece(value)
        if found is not None:
            yield found
    elif numpy is not None and isinstance(value, numpy.ndarray):
        from kengine.provenance.numeric import pieces

        yield from pieces(value)
    elif isinstance(value, Array):
        yield from _pieces(value.as_made())
    elif isinstance(value, tuple) and len(value) == 2 and all(type(n) is int for n in value):
        address, nbytes = value
        yield Piece(address, address + nbytes, nbytes, None)


def _returned(value: Any, depth: int = 0) -> Iterator[Piece]:
    if depth > 12:
        return
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _returned(item, depth + 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _returned(item, depth + 1)
    else:
        yield from _pieces(value)


@contextmanager
def _tensor_exports(watch: _Watch) -> Iterator[None]:
    """Watch the ways by which a tensor's data leaves PyTorch: as a numpy array (followed), as a list (not followed)."""
    torch = sys.modules["torch"]
    kind = torch.Tensor
    inner = {name: getattr(kind, name) for name in _WAYS_OUT if hasattr(kind, name)}

    def leave(name: str) -> Callable[..., Any]:
        @functools.wraps(inner[name])
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            value = inner[name](self, *args, **kwargs)
            paused = watch.follower is not None and watch.follower.paused
            asked = name in _WRITERS or _asked_by_candidate(sys._getframe(1))
            if not paused and _watch is watch and asked:
                if name == "numpy":
                    return argument(value)
                for each in _pieces(self):
                    watch.ledger.export(each, _WAYS_OUT[name])
            return value

        return method

    own = {name: vars(kind)[name] for name in inner if name in vars(kind)}
    for name in inner:
        setattr(kind, name, leave(name))
    try:
        yield
    finally:
        for name in inner:
            if name in own:
                setattr(kind, name, own[name])
            else:
                delattr(kind, name)


_WAYS_OUT = {"numpy": "data", "tolist": "data", "__reduce_ex__": "data", "__dlpack__": "address", "data_ptr": "address"}
_carriers = {"kengine", "torch"}
_WRITERS = ("__reduce_ex__",)
"""Ways out that the candidate does not go itself: pickle and torch.save do."""


def trust(*packages: str) -> None:
    """Have packages that pass memory on to kernels do so without a word; for `kengine_warm`."""
    _carriers.update(packages)
    if "numpy" in sys.modules:
        from kengine.provenance import exits

        exits.carriers.update(packages)


def _asked_by_candidate(frame: Any) -> bool:
    """Whether the code that asks is not that of a library which only passes the memory on to a kernel."""
    return not callers.is_library(frame, _carriers)


def _follow_threads() -> None:
    """Have threads that start while a call is followed be counted, and followed themselves."""
    import _thread
    import threading

    for module, name in ((_thread, "start_new_thread"), (threading, "_start_new_thread"),
                         (_thread, "start_joinable_thread"), (threading, "_start_joinable_thread")):  # fmt: skip
        inner = getattr(module, name, None)
        if inner is not None:
            setattr(module, name, _counted(inner))


def _counted(inner: Callable[..., Any]) -> Callable[..., Any]:
    def start(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if _watch is not None and _watch.depth:
            _watch.ledger.threads += 1

        def body(*inside: Any, **named: Any) -> Any:
            if "torch" not in sys.modules:
                return function(*inside, **named)
            from kengine.provenance.dispatch import Listener

            # A pool that was made while the candidate was imported works for the call that is followed, too.
            with Listener(_follower):
                return function(*inside, **named)

        return inner(body, *args, **kwargs)

    return start


@contextmanager
def _inside_an_operator() -> Iterator[None]:
    """What PyTorch takes off around the body of a custom operator: a pretence of a device, and the follower."""
    pretence, follower = sys.modules.get("kengine.pretence"), _follower()
    with ExitStack() as stack:
        if pretence is not None:
            stack.enter_context(pretence.again())
        if follower is not None:
            stack.enter_context(follower)
        yield


def _follower() -> Follower | None:
    return _watch.follower if _watch is not None and _watch.depth else None
