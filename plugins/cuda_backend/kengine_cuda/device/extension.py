"""Extensions of torch on a device: built by nvcc in seconds, their launches seen and withheld."""

from __future__ import annotations

import ctypes as c
import functools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from kengine.device import graphs, streams
from kengine.device.trace import launching
from kengine.errors import CandidateFault, TargetUnavailable
from kengine.model import Mode
from kengine.native import observe
from kengine.native.inline import place_fault, texts_of
from kengine.runner import hostmemory
from kengine.runner import watch as calls

from kengine_cuda.device.interpose import LINK, find_library, load, observed
from kengine_cuda.toolchain.ptxas import plain_name

if TYPE_CHECKING:
    from kengine_cuda.device.driver import Device

_MODES = {Mode.normal: 0, Mode.traced: 0, Mode.noop: 1, Mode.raises: 2}


@contextmanager
def watch(device: Device) -> Iterator[None]:
    """Inside the block, and for what was imported in it, extensions are built by kengine's light headers and nvcc."""
    from torch.utils import cpp_extension

    before = cpp_extension.load_inline, cpp_extension.load
    cpp_extension.load_inline = functools.partial(_build, device, "load_inline")
    cpp_extension.load = functools.partial(_build, device, "load")
    try:
        yield
    finally:
        cpp_extension.load_inline, cpp_extension.load = before


def _build(device: Device, how: str, *args: Any, **kwargs: Any) -> Any:
    from kengine import extension
    from kengine.native import cache

    folder = cache.make_private(device.workdir)
    settings = extension.Settings(cache=folder, tools=folder, mode="nvcc", arch=device.chip.arch)
    library = find_library(folder)
    launches = load(library)
    flags = [*(kwargs.pop("extra_ldflags", None) or ()), *LINK, f"-L{library.parent}", f"-l:{library.name}"]
    try:
        made = getattr(extension, how)(*args, settings=settings, extra_ldflags=flags, **kwargs)
    except CandidateFault as fault:
        raise observe.current().failed(place_fault(fault, texts_of(args, kwargs), device.candidate)) from None
    except TargetUnavailable as error:
        raise observe.current().failed(CandidateFault("unsupported", str(error))) from None
    for name, value in list(vars(made).items()):
        if callable(value) and not name.startswith("_"):
            setattr(made, name, _watched(value, launches))
    device.extensions.append(made)
    return made


def _launch(kernel: str, words: list[int], stream: int) -> AbstractContextManager[None]:
    """Around a launch that an extension makes: followed with the memory that its arguments point into, and held up
    where its stream is one of its own."""
    return launching(plain_name(kernel), calls.blocks(words), stream=stream)


def _watched(function: Callable[..., Any], launches: c.CDLL) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        observation = observe.current()
        try:
            graphs.refuse("a function of an extension")
        except CandidateFault as fault:
            raise observation.failed(fault) from None
        launches.kengine_launches_begin(_MODES[observation.mode])
        try:
            seen = observed(launches, _launch) if calls.active() or streams.watching() else nullcontext()
            with seen, hostmemory.inside((args, kwargs), False):
                return function(*args, **kwargs)
        finally:
            grid = (c.c_uint * 3)()
            for i in range(launches.kengine_launches_count()):
                launches.kengine_launches_grid(i, grid)
                name = plain_name(launches.kengine_launches_name(i).decode(errors="replace"))
                observation.completed(name, (grid[0], grid[1], grid[2]))
            refused = launches.kengine_launches_refused()
            launches.kengine_launches_begin(0)
            if refused:
                raise observe.LaunchRefused("a launch of the extension was refused")

    return call
