"""`cupy.ndarray` of the facade: numpy's array, with what CuPy adds to it."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np

from kengine.native.cupy import refuse
from kengine.native.cupy.record import bare, note
from kengine.runner import watch

_POISON_BYTE, _POISON_INTEGER_BYTE = 0xFF, 0x7B
_REDUCTIONS = ("sum", "mean", "max", "min", "prod", "std", "var", "any", "all", "argmax", "argmin")
_METHODS = ("astype", "copy", "flatten", "ravel", "reshape", "take", "repeat", "dot", "cumsum", "cumprod", "clip",
            "round", "trace", "argsort", "argpartition", "searchsorted", "diagonal", "compress", "choose")  # fmt: skip
_IN_PLACE = ("sort", "fill", "put", "partition")


class MemoryPointer:
    """An address on the device. ptr: the number; using it makes kernels work in place there."""

    def __init__(self, mem: Any, offset: int = 0) -> None:
        self.mem = mem
        self._offset = offset

    @property
    def ptr(self) -> int:
        """The address. Taking it exposes the memory to every kernel."""
        from kengine.native.cupy import kernels

        if isinstance(self.mem, np.ndarray):
            kernels.expose(self.mem)
            return int(self.mem.ctypes.data) + self._offset
        return int(self.mem.ptr) + self._offset

    device_id = 0

    @property
    def device(self) -> Any:
        """The only device."""
        return sys.modules["cupy.cuda"].Device(0)

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self._offset + offset)


class UnownedMemory:
    """Memory of somebody else: address, size in bytes, and its owner, which is kept alive."""

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        self.ptr, self.size, self.owner = int(ptr), int(size), owner


class ndarray(np.ndarray):
    """An array of the facade. Raises TypeError where CuPy refuses what is not on a device."""

    def __new__(
        cls, shape: Any, dtype: Any = float, memptr: MemoryPointer | None = None, strides: Any = None, order: Any = "C"
    ) -> Any:
        if memptr is None:
            made = super().__new__(cls, shape, dtype, strides=strides, order=order)
            return poison(made)
        if isinstance(memptr.mem, np.ndarray):
            return super().__new__(cls, shape, dtype, memptr.mem.base, memptr._offset, strides, order)
        kind = np.dtype(dtype)
        span = int(memptr.mem.size) - memptr._offset if hasattr(memptr.mem, "size") else kind.itemsize
        memory = (ctypes.c_char * span).from_address(memptr.ptr)
        memory.owner = memptr.mem  # type: ignore[attr-defined]
        return super().__new__(cls, shape, kind, memory, 0, strides, order)

    def get(self, stream: Any = None, order: str = "C", out: Any = None, blocking: bool = True) -> Any:
        """A copy on the host."""
        if out is not None:
            out[...] = self.view(np.ndarray)
            note("copyto", (self,), None, out)
            return out
        made = np.array(self.view(np.ndarray), order=order)  # type: ignore[call-overload]
        note("copy", (self,), made)
        return watch.argument(made)

    def set(self, arr: Any, stream: Any = None) -> None:
        """Copy an array of the host here."""
        self[...] = np.asarray(arr)

    @property
    def data(self) -> Any:
        """Its place on the device."""
        return MemoryPointer(self)

    @property
    def device(self) -> Any:
        """The only device."""
        return sys.modules["cupy.cuda"].Device(0)

    def toDlpack(self) -> Any:
        """A DLPack capsule."""
        return self.view(np.ndarray).__dlpack__()

    def __dlpack__(self, **_: Any) -> Any:
        return self.view(np.ndarray).__dlpack__()

    def __dlpack_device__(self) -> Any:
        return self.view(np.ndarray).__dlpack_device__()

    def __getitem__(self, key: Any) -> Any:
        result = super().__getitem__(key)
        note("take", (self, key), result)
        return result

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        note("copyto", (self, key, value), None, self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        given = kwargs.get("out")
        result = getattr(ufunc, method)(*map(bare, inputs), **{key: bare(value) for key, value in kwargs.items()})
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        if method == "at":
            note(name, inputs, None, inputs[0])
            return None
        if given is not None:
            note(name, (inputs, kwargs.get("where")), None, given)
            return given[0] if len(given) == 1 else given
        made = wrap(result)
        note(name, (inputs, kwargs.get("where")), made)
        return made

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        # numpy's functions on arrays of CuPy are CuPy's.
        made = wrap(func(*bare(args), **bare(kwargs)))
        written = args[0] if func in (np.copyto, np.put, np.place, np.putmask) else kwargs.get("out")
        note(func.__name__, (args, kwargs), made, written)
        return made if kwargs.get("out") is None else kwargs["out"]

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # CuPy has no scalars: what numpy would make one of stays an array without axes.
        return np.asarray(array).view(ndarray)


def _reduction(name: str) -> Any:
    inner = getattr(np.ndarray, name)

    def reduce(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = wrap(inner(self.view(np.ndarray), *bare(args), **bare(kwargs)))
        note(name, (self, args), made, kwargs.get("out"))
        return made

    reduce.__name__ = name
    return reduce


def _method(name: str, in_place: bool) -> Any:
    inner = getattr(np.ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = inner(self.view(np.ndarray), *bare(args), **bare(kwargs))
        made = wrap(result) if isinstance(result, np.ndarray) else result
        note(name, (self, args), made, self if in_place else kwargs.get("out"))
        return made

    method.__name__ = name
    return method


for _name in _REDUCTIONS:
    setattr(ndarray, _name, _reduction(_name))
for _name in (*_METHODS, *_IN_PLACE):
    setattr(ndarray, _name, _method(_name, _name in _IN_PLACE))


def wrap(value: Any) -> Any:
    """numpy's answer as the facade gives it: arrays and scalars become its arrays."""
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value).view(ndarray)
    if isinstance(value, (tuple, list)):
        items = [wrap(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value


def poison(array: Any) -> Any:
    """Fill fresh memory, which holds anything on a device, so that a read before a write shows."""
    if array.size:
        byte = 0 if array.dtype.kind == "b" else _POISON_BYTE if array.dtype.kind in "fc" else _POISON_INTEGER_BYTE
        ctypes.memset(array.ctypes.data, byte, array.nbytes)
        watch.allocated((array.view(np.ndarray),))
    return array


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None) -> Any:
    """An array of the facade over the same memory where that can be."""
    made = _from_torch(a, "cupy.asarray", strict=False)
    if made is None:
        made = np.asarray(a)
        if isinstance(a, np.ndarray) and not isinstance(a, ndarray):
            made = made.copy()  # from the host to the device
    made = np.asarray(made, dtype=dtype, order=order)
    made = made.copy() if copy else made
    note("asarray", (_source(a),), made)
    return made.view(ndarray)


def array(obj: Any, dtype: Any = None, copy: bool = True, order: Any = "K", subok: bool = False, ndmin: int = 0) -> Any:
    """A new array."""
    source = _from_torch(obj, "cupy.array", strict=False)
    made = np.array(obj if source is None else source, dtype=dtype, copy=True, order=order, ndmin=ndmin)
    note("array", (_source(obj),), made)
    return made.view(ndarray)


def _source(value: Any) -> Any:
    """What an array was made from, where that is an array: a torch tensor as one over its memory."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return value
    with torch._C.DisableTorchFunction(), watch.pause():
        return value.detach().numpy() if value.dtype != torch.bfloat16 else None


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    """A copy on the host."""
    return a.get(out=out) if isinstance(a, ndarray) else np.asarray(a)


def from_dlpack(x: Any, *, device: Any = None, copy: Any = None) -> Any:
    """An array over the memory of a torch tensor or of another array. Raises BufferError for memory of the host."""
    made = _from_torch(x, "cupy.from_dlpack", strict=True)
    if made is None:
        if type(x).__name__ == "PyCapsule":
            torch = sys.modules.get("torch")
            if torch is None:
                raise refuse("cupy.from_dlpack of a capsule without torch")
            made = _from_torch(torch.utils.dlpack.from_dlpack(x), "cupy.from_dlpack", strict=True)
        elif isinstance(x, ndarray):
            made = x
        else:
            raise BufferError(f"a {type(x).__name__} is not in the memory of a device")
    return np.asarray(made).view(ndarray)


def _from_torch(value: Any, where: str, strict: bool) -> Any:
    """A torch tensor's memory as a numpy array, None for anything else."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    if not value.is_cuda:
        if strict:
            raise BufferError(f"{where}: the tensor is on the host; it was made without device=...")
        return np.array(_numpy(torch, value.detach(), where))
    if value.requires_grad:
        raise RuntimeError(f"{where}: the tensor requires a gradient; call .detach() first")
    return _numpy(torch, value, where)


def _numpy(torch: Any, value: Any, where: str) -> Any:
    if str(value.dtype).removeprefix("torch.") not in np.sctypeDict and value.dtype != torch.bool:
        raise TypeError(f"{where}: CuPy has no dtype for {value.dtype}; pass the tensor's data_ptr() to the kernel")
    with torch._C.DisableTorchFunction():
        return value.numpy()


def names() -> dict[str, Any]:
    """What the module `cupy` gets from here."""
    return {"ndarray": ndarray, "asarray": asarray, "array": array, "asnumpy": asnumpy, "from_dlpack": from_dlpack,
            "fromDlpack": from_dlpack}  # fmt: skip
