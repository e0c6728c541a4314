"""Matrix products and small convolutions that a reference does on its inputs and parameters as they come."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from kengine.provenance.modes import DispatchMode

_PRODUCTS = frozenset({"mm", "addmm", "bmm", "baddbmm"})
_SMALL_KERNEL = 9
"""Elements of a convolution's kernel up to which no transform does it with far fewer operations."""


@dataclass(frozen=True)
class Contraction:
    """One product: operations that it takes done plainly, times the share of its operands that is not zero."""

    operations: float
    size: int
    convolution: bool
    narrow: bool


class Contractions(DispatchMode):
    """Notes them. span: addresses of the memory that the inputs lie in; parameters: sizes of parameters in bytes."""

    def __init__(self, span: tuple[int, int], parameters: set[int]) -> None:
        super().__init__()
        self.found: list[Contraction] = []
        self._span = span
        self._parameters = parameters
        self._computed: set[int] = set()
        self._kept: list[Any] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        packet = func.overloadpacket
        name = func._schema.name.partition("::")[2]
        if name in _PRODUCTS or name == "convolution":
            # The first argument of addmm and baddbmm is added only.
            operands = args[1:3] if name.endswith("addmm") or name == "baddbmm" else args[:2]
            plain = name in _PRODUCTS or self._plain(args)
            if plain and packet in flop_registry and all(self._raw(a) for a in operands):
                dense = prod(float((a != 0).float().mean()) for a in operands)
                operations = float(flop_registry[packet](*args, **(kwargs or {}), out_val=out)) * dense
                narrow = all(a.dtype.itemsize == 1 for a in operands)
                self.found.append(Contraction(operations, out.numel(), name == "convolution", narrow))
        for result in (out,) if isinstance(out, torch.Tensor) else out if isinstance(out, (list, tuple)) else ():
            if isinstance(result, torch.Tensor) and not any(_shares(result, a) for a in args):
                self._computed.add(result.untyped_storage().data_ptr())
                self._kept.append(result.untyped_storage())  # an address that is used again would name another
        return out

    def _plain(self, args: Any) -> bool:
        weight, transposed = args[1], bool(args[6])
        return not transposed and prod(weight.shape[2:]) <= _SMALL_KERNEL

    def _raw(self, operand: Any) -> bool:
        """Whether an operand is an input or a parameter, or a view of one."""
        storage = operand.untyped_storage()
        if self._span[0] <= operand.data_ptr() < self._span[1]:
            return True
        return storage.data_ptr() not in self._computed and storage.nbytes() in self._parameters


def _shares(result: Any, argument: Any) -> bool:
    if not isinstance(argument, torch.Tensor):
        return False
    return bool(result.untyped_storage().data_ptr() == argument.untyped_storage().data_ptr())
