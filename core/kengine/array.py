"""One array as it crosses a process border: a spec and the memory it describes, in no framework's terms.

Importing this module imports neither numpy nor torch; `as_numpy` and `as_torch` do, when called.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import torch

    from kengine.model import TensorSpec

ITEMSIZE = {
    "bool": 1, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4, "int32": 4, "uint64": 8, "int64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
}  # fmt: skip
"""Bytes of one element for every dtype name that may cross a border."""


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Row-major strides in elements."""
    strides = []
    step = 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def span(spec: TensorSpec) -> int:
    """Bytes from the start of the memory to the end of the last element of `spec`, its offset included."""
    if prod(spec.shape) == 0:
        return spec.offset * ITEMSIZE[spec.dtype]
    strides = spec.strides or contiguous_strides(spec.shape)
    last = spec.offset + sum((n - 1) * s for n, s in zip(spec.shape, strides))
    return (last + 1) * ITEMSIZE[spec.dtype]


@dataclass(frozen=True)
class Array:
    """A spec over memory: `memory` is a writable buffer of host bytes, or a flat uint8 torch tensor on a device.

    from_torch: whether the task made it with torch, for backends whose candidates take arrays of either framework.
    """

    spec: TensorSpec
    memory: Any
    from_torch: bool = False

    def as_numpy(self) -> numpy.ndarray[Any, Any]:
        """View as numpy without a copy; bfloat16 and fp8 through ml_dtypes. Host memory only."""
        import numpy as np

        name = self.spec.dtype
        if name.startswith(("bfloat", "float8")):
            import ml_dtypes

            dtype = np.dtype(getattr(ml_dtypes, name))
        else:
            dtype = np.dtype(name)
        strides = self.spec.strides or contiguous_strides(self.spec.shape)
        array: numpy.ndarray[Any, Any] = np.ndarray(
            self.spec.shape,
            dtype,
            buffer=self.memory,
            offset=self.spec.offset * dtype.itemsize,
            strides=tuple(s * dtype.itemsize for s in strides),
        )
        return array

    def as_made(self) -> Any:
        """View in the framework that the task made it with: a torch tensor, or a numpy array."""
        return self.as_torch() if self.from_torch else self.as_numpy()

    def as_torch(self) -> torch.Tensor:
        """View as torch without a copy, on the device of the memory."""
        import torch

        dtype = getattr(torch, self.spec.dtype)
        if isinstance(self.memory, torch.Tensor):
            flat = self.memory
        elif len(memoryview(self.memory)) == 0:
            flat = torch.empty(0, dtype=torch.uint8)
        else:
            flat = torch.frombuffer(self.memory, dtype=torch.uint8)
        whole = flat.numel() // ITEMSIZE[self.spec.dtype] * ITEMSIZE[self.spec.dtype]
        typed = flat[:whole].view(dtype)
        strides = self.spec.strides or contiguous_strides(self.spec.shape)
        # as_strided counts from the start of the storage, which a slice of device memory shares with its whole.
        return typed.as_strided(self.spec.shape, strides, typed.storage_offset() + self.spec.offset)
