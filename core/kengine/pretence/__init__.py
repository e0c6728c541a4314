"""A device for host code to see where there is none: wrappers run unchanged on the CPU, for emulation and recording.

Importing this package does not import torch; entering `pretend` does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Figures:
    """What host code may ask of a device. Sizes in bytes; `arch` as the vendor writes it, such as sm_90 or gfx942."""

    arch: str
    name: str
    is_amd: bool
    capability: tuple[int, int]
    warp_size: int
    units: int
    threads_per_unit: int
    shared_block: int
    shared_unit: int
    memory: int


@contextmanager
def pretend(
    figures: Figures,
    poison: bool,
    lenient: bool = False,
    expose: Callable[[Any], None] | None = None,
    refuse: Callable[[str], Exception] | None = None,
) -> Iterator[None]:
    """Inside the block, `torch.cuda` answers as if the device were there and tensors say that they live on it.

    poison: uninitialised memory is filled with NaN (else with zeros, for runs whose kernels compute nothing).
    lenient: tensors made without a device count as being on it (modules are moved there by whoever calls them).
    expose: called with a tensor whose address host code takes. refuse: makes the exception for what cannot be
    emulated, such as "a CUDA graph".
    """
    from kengine.pretence import cuda
    from kengine.pretence.tensors import Pretence

    global _current
    before, _current = _current, Pretence(poison=poison, lenient=lenient, expose=expose)
    try:
        with ExitStack() as stack:
            stack.enter_context(cuda.answering_as(figures, refuse or RuntimeError))
            stack.enter_context(cuda.recording_no_streams())
            stack.enter_context(_current)
            yield
    finally:
        _current = before


_current: Any = None


def give(value: Any) -> None:
    """Before a tensor is given to a wrapper as an argument: inside of `pretend` it is on the device."""
    if _current is None:
        return
    import torch

    from kengine.pretence.tensors import put_on_device

    if type(value) is torch.Tensor and value.layout == torch.strided and not value.is_meta:
        put_on_device(value)


def again() -> AbstractContextManager[Any]:
    """The pretence of the block that this code runs in, for where PyTorch has taken it off: in custom operators."""
    return nullcontext() if _current is None else _current
