"""Tensors in the host's memory while a function of an extension runs: sealed after each operator, see `hostmemory`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from kengine.provenance import dispatch
from kengine.provenance.modes import DispatchMode

if TYPE_CHECKING:
    from kengine.runner.hostmemory import _Memory

_COPIES = ("aten::_to_copy", "aten::copy_")


class Tensors(DispatchMode):
    """Seals what operators make and change, and finds between them what host code has written to."""

    def __init__(self, memory: _Memory) -> None:
        super().__init__()
        self._memory = memory

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        self._memory.settle()
        result = func(*args, **kwargs)
        name = str(func._schema.name)
        with torch._C.DisableTorchFunction():
            if name in _COPIES and _to_host(name, args, kwargs, result):
                self._memory.export(regions([args[1] if name == "aten::copy_" else args[0]]))
            written = any(a.alias_info is not None and a.alias_info.is_write for a in func._schema.arguments)
            self.seal([result, args, kwargs] if written else result)
        return result

    def seal(self, values: Any) -> list[tuple[int, int]]:
        """Seal the tensors of the host in a nested value; where they lie."""
        with torch._C.DisableTorchFunction():  # a pretence would say that they are on the device
            found = [t for t in dispatch.tensors(values) if t.device.type == "cpu" and t.layout is torch.strided]
            pieces = [piece for tensor in found if (piece := dispatch.piece(tensor)) is not None]
        self._memory.seal([(p.start, p.end - p.start, p.owner) for p in pieces])
        return [(p.start, p.end - p.start) for p in pieces]


def regions(values: list[Any]) -> list[tuple[int, int]]:
    """Where tensors lie, as far as they have memory, and how many bytes of it they use."""
    with torch._C.DisableTorchFunction():
        pieces = [piece for tensor in values if (piece := dispatch.piece(tensor)) is not None]
    return [(p.start, p.nbytes) for p in pieces]


def _to_host(name: str, args: Any, kwargs: Any, result: Any) -> bool:
    """Whether this copies from the device to the host.

    Where the device is an emulated one all tensors lie on the host. There an extension that is built for it says so:
    what it moves to the host is copied without blocking, which means nothing there.
    """
    source, target = (args[1], args[0]) if name == "aten::copy_" else (args[0], result)
    if source.device.type != "cpu":
        return bool(target.device.type == "cpu")
    return name == "aten::_to_copy" and bool(kwargs.get("non_blocking"))
