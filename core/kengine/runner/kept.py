"""What one call of the candidate leaves for the next: its module, and the objects that its arguments were.

Whoever trains or serves calls one module again and again, and fills the same tensors anew. An answer that is kept in
the module, or goes with the argument, must be wrong here as it would be there: so a module is used again while its
parameters stay the same, and an array that lies where one of an earlier call lay is given as the same object.
"""

from __future__ import annotations

import sys
from typing import Any
from zlib import crc32

from kengine.array import Array
from kengine.plugins.hooks import Inputs
from kengine.provenance import contents

MOST = 64
"""Objects that are kept; those of the earliest calls go first."""

_module: tuple[Any, Any, Any] | None = None
_last: dict[int, Any] = {}
_now: dict[int, Any] = {}


def begin() -> None:
    """Before the arguments of a call are converted: those of the calls before become the ones to find again."""
    global _last, _now
    # In the order in which they were given last.
    objects = [*(pair for pair in _last.items() if pair[0] not in _now), *_now.items()]
    _last, _now = dict(objects[-MOST:]), {}


def forget() -> None:
    """Let go of everything: what a call leaves behind that raised, or had its kernels withheld, is nobody's fault."""
    global _module, _last, _now
    _module, _last, _now = None, {}, {}


def find_module(kind: Any, inputs: Inputs) -> Any:
    """The module of this class that was made last with equal arguments and parameters, or None."""
    if _module is None or _module[0] is not kind or _module[1] != _described(inputs):
        return None
    return _module[2]


def keep_module(kind: Any, inputs: Inputs, module: Any) -> None:
    """Keep a module that was made of these inputs; the one before goes."""
    global _module
    _module = (kind, _described(inputs), module)


def same_object(made: Any) -> Any:
    """The object of an earlier call that describes the same memory in the same way; else `made` itself."""
    address = _address(made)
    if not address:
        return made
    before = _last.pop(address, None)
    given = before if before is not None and _alike(before, made) else made
    _now[address] = given
    return given


def _address(made: Any) -> int:
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(made, torch.Tensor):
        return int(torch.Tensor.data_ptr(made))
    if numpy is not None and type(made) is numpy.ndarray:
        return int(made.__array_interface__["data"][0])
    return 0


def _alike(before: Any, made: Any) -> bool:
    """Whether the candidate has left an object as it was given: class, memory and form."""
    if type(before) is not type(made) or _address(before) != _address(made):
        return False
    numpy = sys.modules.get("numpy")
    if numpy is not None and type(made) is numpy.ndarray:
        names: tuple[str, ...] = ("shape", "strides", "dtype", "flags")
    else:
        names = ("shape", "dtype", "device", "requires_grad", "grad_fn")
        if before.stride() != made.stride():
            return False
    return all(_equal(getattr(before, name), getattr(made, name)) for name in names)


def _equal(one: Any, other: Any) -> bool:
    return repr(one) == repr(other) if type(one).__name__ == "flagsobj" else bool(one == other)


def _described(inputs: Inputs) -> Any:
    """Arguments of the constructor and parameters, arrays as a spec and a checksum of their contents."""
    return _plain(inputs.init_args), {name: _plain(array) for name, array in inputs.state.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Array):
        return value.spec, _checksum(value.memory)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [_plain(item) for item in value]
    return value


def _checksum(memory: Any) -> Any:
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(memory, torch.Tensor):
        return [bytes(part.cpu().numpy()) for part in contents.fold(memory)]
    return crc32(memory)
