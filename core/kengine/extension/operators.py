"""Helpers of the glue library: torch's operators by name, and calls in the order of a C++ signature."""

from __future__ import annotations

import sys
from typing import Any

_OPTIONS = ("dtype", "layout", "device", "pin_memory")


def find(name: str) -> Any:
    """The operator of this name. AttributeError says that torch has none."""
    import torch

    base = name.removesuffix("_out")
    if base != name:  # C++ puts the result first, the schema last and by keyword
        operator = getattr(torch.ops.aten, base)
        return lambda out, *args, **keywords: operator(*args, **keywords, out=out)
    return getattr(torch.ops.aten, name)


def is_on_host(tensor: Any) -> bool:
    """Whether a tensor would be in the host's memory, where a device is pretended; False where none is."""
    pretence = sys.modules.get("kengine.pretence.tensors")
    return pretence is not None and bool(pretence.on_host(tensor))


def fetched(tensor: Any) -> None:
    """Note that the host gets the data of a tensor on an emulated device."""
    from kengine.runner import hostmemory

    hostmemory.fetched(tensor)


def retry(name: str, args: tuple[Any, ...], keywords: dict[str, Any], error: Any) -> Any:
    """Call an operator whose plain call failed: some parameters are positional in C++ and keywords in Python, and one
    integer serves for a list of them in C++.

    Raises the plain call's own error when no overload takes the arguments in this order either.
    """
    import torch

    packet = getattr(torch.ops.aten, name, None)
    for overload in packet.overloads() if packet is not None else ():
        operator = getattr(packet, overload)
        parameters = [a for a in operator._schema.arguments if a.name not in _OPTIONS and not a.is_out]
        given = [(p, _listed(p, v)) for p, v in zip(parameters, args)]
        changed = any(p.kwarg_only or made is not v for (p, made), v in zip(given, args))
        if len(args) > len(parameters) or not changed:
            continue
        positional = [v for p, v in given if not p.kwarg_only]
        named = {p.name: v for p, v in given if p.kwarg_only}
        try:
            return operator(*positional, **named, **keywords)
        except (TypeError, RuntimeError):
            continue
    if isinstance(error, BaseException):
        raise error
    raise RuntimeError(f"torch has no operator {name} for these arguments")


def _listed(parameter: Any, value: Any) -> Any:
    """A list for a parameter that takes integers, where one integer is given; else the value itself."""
    if isinstance(value, bool) or not isinstance(value, int) or parameter.type.kind() != "ListType":
        return value
    if parameter.type.getElementType().kind() not in ("IntType", "SymIntType"):
        return value
    return [value] * (parameter.N or 1)


def describe(args: tuple[Any, ...], keywords: dict[str, Any] | None) -> str:
    """The arguments of a call as a message shows them: tensors by type, shape and element type."""
    import torch

    def one(value: Any) -> str:
        if isinstance(value, torch.Tensor):
            return f"{type(value).__name__}(shape={tuple(value.shape)}, dtype={value.dtype})"
        text = repr(value)
        return text if len(text) < 80 else text[:77] + "..."

    parts = [one(v) for v in args] + [f"{k}={one(v)}" for k, v in (keywords or {}).items()]
    return ", ".join(parts) or "no arguments"
