"""Arguments going into a kernel and results coming out: numpy arrays, and torch tensors by duck typing."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .buffers import HBM, Storage
from .dtypes import BOOL, DTYPES, Array, DType, find_dtype
from .errors import Unsupported
from .session import LaunchState
from .tensor import NkiTensor, row_major

_SAME_SIZE = {1: "uint8", 2: "int16", 4: "int32"}


def is_torch(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "data_ptr")


def is_array(value: Any) -> bool:
    return (
        isinstance(value, np.ndarray)
        or is_torch(value)
        or (hasattr(value, "__array__") and hasattr(value, "shape") and not isinstance(value, (NkiTensor, np.generic)))
    )


def to_numpy(value: Any) -> tuple[Array, DType]:
    """The array behind a tensor, sharing memory where possible, and its NKI type. Unsupported for other types."""
    dtype = find_dtype(getattr(value, "dtype", None))
    if dtype is None:
        raise Unsupported(f"an input of dtype {getattr(value, 'dtype', type(value).__name__)}", "NKI has no such type")
    if is_torch(value):
        torch = sys.modules["torch"]
        value = value.detach()
        try:
            return value.numpy(), dtype
        except TypeError:
            plain = value.contiguous().view(getattr(torch, _SAME_SIZE[value.element_size()]))
            return plain.numpy().view(dtype.np), dtype
    return np.asarray(value), dtype


class Argument:
    """An array argument: its tensor inside the kernel and how to bring writes back."""

    def __init__(self, launch: LaunchState, value: Any, name: str, copy: bool, index: int) -> None:
        self.torch = is_torch(value)
        array, dtype = to_numpy(value)
        self.original = array
        self.shape = array.shape
        data = np.ascontiguousarray(array)
        if dtype is BOOL and data.dtype == np.bool_:
            data = data.view(np.uint8)
        self.shares = (data.base is not None and np.shares_memory(data, array)) or data is array
        if self.shares and (copy or not array.flags.writeable):
            data, self.shares = data.copy(), False
        nbytes = data.nbytes
        storage = Storage(0, dtype, HBM, 0, name, None)
        storage.adopt(data)
        self.keep_back = not copy and array.flags.writeable
        self.data, self.storage = data, storage
        shape = array.shape or (1,)
        self.tensor = launch.tensor_class(storage, dtype, 0, shape, row_major(shape))
        del nbytes, index

    def bring_back(self) -> None:
        """Copy what the kernel wrote into the caller's array, if they are not the same memory."""
        if self.storage.dirty and self.keep_back and not self.shares:
            np.copyto(self.original, self.data.view(self.original.dtype).reshape(self.shape))


def to_caller(tensor: NkiTensor, torch_out: bool, own: bool) -> Any:
    """A returned tensor as a numpy array, or as a torch tensor; `own` copies it out of shared memory."""
    array = tensor.array()
    if own or not array.flags.c_contiguous:
        array = array.copy()
    if tensor.dtype is DTYPES["bool_"]:
        array = array.astype(np.bool_) if torch_out else array
    if not torch_out:
        return array
    torch = sys.modules["torch"]
    try:
        return torch.from_numpy(array)
    except TypeError:
        plain = torch.from_numpy(array.view(_SAME_SIZE[array.dtype.itemsize]))
        return plain.view(getattr(torch, tensor.dtype.name))
