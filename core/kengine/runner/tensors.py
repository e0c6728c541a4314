"""Arrays as a candidate returns them, looked at through their classes' own methods."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Seen:
    """One array of an exact type. strides in elements; address of its first element, 0 when unknown.

    device: kind of PyTorch's device; "host" where a device is pretended and this would not be on it.
    copy: writes its bytes in row-major order over the first `nbytes` of a sink.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    type: str
    device: str
    address: int
    copy: Callable[[Any, int], None]


_torch: dict[str, Any] = {}


def prepare() -> None:
    """Take the methods that are used later from torch's and numpy's classes; called before a candidate is loaded."""
    torch = sys.modules.get("torch")
    if torch is None or _torch:
        return
    t = torch.Tensor
    names = ("detach", "contiguous", "resolve_conj", "resolve_neg", "data_ptr", "stride", "reshape", "view", "copy_",
             "numel", "is_conj", "is_neg")  # fmt: skip
    _torch.update({name: getattr(t, name) for name in names})
    _torch.update({name: getattr(t, name).__get__ for name in ("shape", "dtype", "layout", "device", "is_quantized")})
    _torch.update(tensor=t, strided=torch.strided, uint8=torch.uint8, frombuffer=torch.frombuffer, sync=_synchronize)
    _torch.update(no_grad=torch.no_grad, no_function=torch._C.DisableTorchFunction)


def see(value: Any) -> Seen | str:
    """Look at a value; what is not an array of an exactly known type comes back as the full name of its type."""
    prepare()
    kind = type(value)
    if _torch and kind is _torch["tensor"]:
        return _see_torch(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and (kind is numpy.ndarray or kind in _scalars(numpy)):
        return _see_numpy(numpy, value)
    cupy = sys.modules.get("cupy")
    if cupy is not None and kind is getattr(cupy, "ndarray", None):
        seen = _see_torch(sys.modules["torch"].from_dlpack(value)) if _torch else "cupy.ndarray"
        return seen if isinstance(seen, str) else Seen(**{**vars(seen), "type": "cupy.ndarray"})
    return full_name(kind)


def full_name(kind: type) -> str:
    """Module and name of a type, without asking the type."""
    module = type.__dict__["__module__"].__get__(kind)
    name = type.__dict__["__qualname__"].__get__(kind)
    return f"{module}.{name}"[:200].encode("utf-8", "replace").decode()


def _see_torch(tensor: Any) -> Seen | str:
    m = _torch
    layout, device = m["layout"](tensor), m["device"](tensor)
    own = object.__getattribute__(tensor, "__dict__")
    if own:
        return f"torch.Tensor with attributes of its own ({', '.join(sorted(map(str, own)))[:80]})"
    if layout is not m["strided"] or m["is_quantized"](tensor):
        return f"torch.Tensor ({'quantized' if m['is_quantized'](tensor) else str(layout)})"
    if device.type not in ("cpu", "cuda"):
        return f"torch.Tensor (on {device.type})"

    def copy(sink: Any, nbytes: int) -> None:
        with m["no_grad"](), m["no_function"]():
            plain = m["resolve_neg"](m["resolve_conj"](m["detach"](tensor)))
            flat = m["view"](m["reshape"](m["contiguous"](plain), (-1,)), m["uint8"])
            target = m["frombuffer"](sink, dtype=m["uint8"]) if isinstance(sink, memoryview) else sink
            m["copy_"](target[:nbytes], flat)
            m["sync"](device, target)

    pretence = sys.modules.get("kengine.pretence.tensors")
    return Seen(
        str(m["dtype"](tensor)).removeprefix("torch."),
        tuple(int(n) for n in m["shape"](tensor)),
        tuple(int(n) for n in m["stride"](tensor)),
        "torch.Tensor",
        "host" if pretence is not None and pretence.on_host(tensor) else device.type,
        int(m["data_ptr"](tensor)),
        copy,
    )


def _synchronize(*places: Any) -> None:
    """Wait for a copy from or to a device: the judge reads the sinks as soon as it is told of them.

    For its stream alone: work that the call left in another one is not waited for by whoever uses the result, either.
    """
    if any("cuda" in str(getattr(p, "device", p)) for p in places):
        sys.modules["torch"].cuda.current_stream().synchronize()


def _see_numpy(numpy: Any, value: Any) -> Seen | str:
    kind = type(value)
    array = numpy.asarray(value)
    dtype = str(array.dtype)
    if array.dtype.hasobject or array.dtype.itemsize == 0 or not array.dtype.isnative:
        return f"numpy.ndarray of {dtype}"[:200]

    def copy(sink: Any, nbytes: int) -> None:
        flat = numpy.frombuffer(numpy.ascontiguousarray(array).tobytes(), dtype=numpy.uint8)
        if isinstance(sink, memoryview):
            numpy.frombuffer(sink, dtype=numpy.uint8)[:nbytes] = flat
        else:
            torch = sys.modules["torch"]
            torch.Tensor.copy_(sink[:nbytes], torch.from_numpy(flat.copy()))
            _synchronize(sink)

    return Seen(
        dtype,
        tuple(array.shape),
        tuple(s // array.dtype.itemsize for s in array.strides),
        f"numpy.{kind.__name__}",
        "cpu",
        int(array.__array_interface__["data"][0]),
        copy,
    )


def _scalars(numpy: Any) -> frozenset[type]:
    if "numpy" not in _torch_free_cache:
        _torch_free_cache["numpy"] = frozenset(numpy.sctypeDict.values())
    return _torch_free_cache["numpy"]


_torch_free_cache: dict[str, frozenset[type]] = {}
