"""A device for host code to see where there is none: wrappers run unchanged on the CPU, for emulation and recording."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kengine_triton.chips import Chip


@contextmanager
def pretend(chip: Chip, poison: bool, lenient: bool = False) -> Iterator[None]:
    """Inside the block, `torch.cuda` answers as if `chip` were there and tensors say that they live on it.

    poison: uninitialised memory is filled with NaN (else with zeros, for runs whose kernels compute nothing).
    lenient: tensors made without a device count as being on it (modules are moved there by whoever calls them).
    """
    from kengine_triton.host import cuda
    from kengine_triton.host.tensors import Pretence

    with ExitStack() as stack:
        stack.enter_context(cuda.answering_as(chip))
        stack.enter_context(Pretence(poison=poison, lenient=lenient))
        yield
