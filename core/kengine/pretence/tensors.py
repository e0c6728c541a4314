"""Tensors that say they are on `cuda:0` while their memory is on the host.

Honest wrappers ask `x.is_cuda`, allocate with `device=x.device` or `device="cuda"`, and move things with `.cuda()`. A
tensor that a wrapper allocates *without* a device stays a host tensor, as on a real machine, where launches fail on it.
A tensor on the device does not become a numpy array: `.cpu()` comes first, here as there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from kengine.provenance import callers
from kengine.runner import watch

_Base = torch.Tensor
DEVICE = torch.device("cuda", 0)
"""Where every tensor of the pretence is."""

_HOST = "_kengine_host"
"""Attribute of a storage: True for the host's, False for the device's. None, or none at all, where PyTorch does not say
how it was made (`from_numpy`), and for a module's own, which is moved to the device by whoever calls it: it counts as
the device's, but it may become an array."""
_EMPTY = frozenset(
    {"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided", "empty_quantized"}
)
_ADDRESS = frozenset({_Base.data_ptr})
_ARRAYS = frozenset({"numpy", "__array__"})
_BETWEEN = ("torch", "numpy")
"""Packages by way of which an array is asked for."""
_POISON_BYTE, _POISON_INTEGER_BYTE = 0xFF, 0x7B


def on_host(tensor: Any) -> bool:
    """Whether a tensor would be in host memory on a machine with a device."""
    while _is_wrapped(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return bool(getattr(tensor.untyped_storage(), _HOST, False))


def _is_wrapped(tensor: Any) -> bool:
    """Whether this stands for another tensor inside `torch.vmap` and its like, and has no memory of its own."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))


class Pretence(TorchFunctionMode):  # type: ignore[misc]
    """Rewrites every torch call of a wrapper as described above."""

    def __init__(self, poison: bool, lenient: bool, expose: Callable[[Any], None] | None) -> None:
        super().__init__()
        self._poison = poison
        self._lenient = lenient
        self._expose = expose

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        getter = _GETTERS.get(func)
        if getter is not None:
            return getter(args[0])
        # By name too: PyTorch hands over what stands in the class, which may be a function around the method.
        if func in _ADDRESS or getattr(func, "__name__", "") == "data_ptr":
            if self._expose is not None:
                self._expose(args[0])
            return func(*args)
        kwargs = dict(kwargs or {})
        name = getattr(func, "__name__", "")
        if name in _ARRAYS and isinstance(args[0], torch.Tensor) and not kwargs.get("force"):
            _refuse_array(args[0], sys._getframe(1))
        if name in ("cuda", "cpu", "to"):
            return self._move(func, name, args, kwargs)
        wanted = kwargs.get("device")
        if wanted is not None:
            kwargs["device"] = "meta" if _kind(wanted) == "meta" else "cpu"
        kwargs.pop("pin_memory", None)
        result = func(*args, **kwargs)
        for made in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(made, torch.Tensor):
                self._settle(made, name, wanted, args, kwargs)
        return result

    def _settle(self, result: Any, name: str, wanted: Any, args: Any, kwargs: Any) -> None:
        """Decide where a new tensor is, and poison it if nothing has been written to it."""
        if result.is_meta or result.layout != torch.strided or _is_wrapped(result):
            return
        operands = [a for a in _flatten((args, kwargs)) if isinstance(a, torch.Tensor)]
        shares = any(a.layout == torch.strided and _same_memory(a, result) for a in operands)
        if not shares:
            if wanted is not None:
                _mark(result, _kind(wanted) == "cpu")
            elif operands:
                _mark(result, _place_of(operands))
            else:
                _mark(result, None if self._lenient else True)
            if name in _EMPTY:
                # A candidate that looks for the poison meets memory without any in a call that is followed.
                _fill(result, self._poison and not watch.active())

    def _move(self, func: Any, name: str, args: Any, kwargs: Any) -> Any:
        source = args[0]
        if not isinstance(source, torch.Tensor):
            return func(*args, **kwargs)
        target, rest, named = _destination(name, args, kwargs)
        if target == "meta":
            return func(*args, **kwargs)
        result = source.to(*rest, **named) if rest or named else source
        if not isinstance(result, torch.Tensor) or result.is_meta or result.layout != torch.strided:
            return result
        if target is None:
            if not _same_memory(source, result):
                _mark(result, _place_of([source]))
            return result
        host = target == "cpu"
        if _is_host(source) != host and _same_memory(source, result):
            result = result.clone()
        if result is not source:
            _mark(result, host)
        return result


def _destination(name: str, args: Any, kwargs: Any) -> tuple[str | None, list[Any], dict[str, Any]]:
    """Where a `.to`, `.cuda` or `.cpu` goes ("cpu", "cuda", "meta", None: stays), and its arguments without it."""
    if name == "cuda":
        place = args[1] if len(args) > 1 else kwargs.get("device")
        return ("cuda" if place is None else _kind(place)), [], {}
    if name == "cpu":
        return "cpu", [], {}
    named = dict(kwargs)
    target: str | None = None
    if named.get("device") is not None:
        target = _kind(named["device"])
    named.pop("device", None)
    rest = []
    for arg in args[1:]:
        if isinstance(arg, (str, torch.device)) or (type(arg) is int and target is None):
            target = _kind(arg)
        elif isinstance(arg, torch.Tensor):
            target = "cpu" if _is_host(arg) else "cuda"
            rest.append(arg.dtype)
        elif isinstance(arg, torch.dtype) or not isinstance(arg, (bool, type(None))):
            rest.append(arg)
    named.pop("non_blocking", None)
    return target, rest, named


def _kind(device: Any) -> str:
    """"cpu", "cuda" or "meta". Raises RuntimeError, as PyTorch does, for a second device."""
    place = torch.device("cuda", device) if type(device) is int else torch.device(device)
    if place.type in ("cpu", "meta"):
        return str(place.type)
    if place.index:
        raise RuntimeError(f"CUDA error: invalid device ordinal ({place}: there is one device, {DEVICE})")
    return "cuda"


def _is_host(tensor: Any) -> bool:
    return bool(tensor.layout == torch.strided and not tensor.is_meta and on_host(tensor))


def _place_of(operands: list[Any]) -> bool | None:
    """Where the result of an operator on these is; see `_HOST`."""
    if all(map(_is_host, operands)):
        return True
    return False if any(_is_on_device(o) for o in operands) else None


def _is_on_device(tensor: Any) -> bool:
    """Whether a tensor would be on the device for certain, whoever calls."""
    if tensor.is_meta or tensor.layout != torch.strided or _is_wrapped(tensor):
        return False
    return getattr(tensor.untyped_storage(), _HOST, None) is False


def put_on_device(tensor: Any) -> None:
    """Say that a tensor that the caller gives is on the device."""
    _mark(tensor, False)


def _refuse_array(tensor: Any, frame: Any) -> None:
    """Raise TypeError as PyTorch does where a tensor on the device is to become an array, unless kengine itself or a
    library that passes memory on asks for it."""
    if not _is_on_device(tensor):
        return
    while frame is not None and (callers.is_library(frame, _BETWEEN) or frame.f_globals is vars(watch)):
        frame = frame.f_back
    root = str(frame.f_globals.get("__name__", "")).partition(".")[0] if frame is not None else ""
    if callers.is_library(frame, {"kengine", "triton", "cupy", root if root.startswith("kengine_") else "kengine"}):
        return
    raise TypeError(
        f"can't convert {DEVICE} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
    )


def _mark(tensor: Any, host: bool | None) -> None:
    if _is_wrapped(tensor):
        return
    setattr(tensor.untyped_storage(), _HOST, host)


def _same_memory(a: Any, b: Any) -> bool:
    wrapped = _is_wrapped(a) or _is_wrapped(b)
    return not a.is_meta and not wrapped and a.untyped_storage()._cdata == b.untyped_storage()._cdata


def _fill(tensor: Any, poison: bool) -> None:
    storage = tensor.untyped_storage()
    if not storage.nbytes():
        return
    flat = torch.empty(0, dtype=torch.uint8).set_(storage)
    if not poison or tensor.dtype == torch.bool:
        flat.zero_()
    else:
        flat.fill_(_POISON_BYTE if tensor.is_floating_point() or tensor.is_complex() else _POISON_INTEGER_BYTE)


def _flatten(value: Any) -> list[Any]:
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in _flatten(item)]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _flatten(item)]
    return [value]


def _device(tensor: Any) -> torch.device:
    if tensor.is_meta:
        return torch.device("meta")
    return torch.device("cpu") if _is_host(tensor) else DEVICE


_GETTERS: dict[Any, Any] = {
    _Base.is_cuda.__get__: lambda t: not t.is_meta and not _is_host(t),
    _Base.is_cpu.__get__: lambda t: not t.is_meta and _is_host(t),
    _Base.device.__get__: _device,
    _Base.get_device: lambda t: -1 if _is_host(t) else 0,
}
