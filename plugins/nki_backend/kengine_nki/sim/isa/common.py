"""Checks and helpers that instructions share."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, out_array, values
from ..buffers import PSUM, SBUF, MemoryRegion
from ..dtypes import F32, Array
from ..enums import engine as Engine
from ..enums import member
from ..errors import NkiError
from ..ops import Op, apply
from ..program import Program, current
from ..tensor import NkiTensor

ON_CHIP = (SBUF, PSUM)


def tile(name: str, role: str, value: Any, regions: tuple[MemoryRegion, ...] = ON_CHIP) -> None:
    """NkiError unless `value` is a tensor in one of `regions` with at most 128 partitions, partition axis first."""
    if not isinstance(value, NkiTensor):
        raise NkiError(f"{name} {role} must be a tensor, got {type(value).__name__}")
    region = value.storage.region
    if region not in regions:
        raise NkiError(f"{name} {role} must be in {[str(r) for r in regions]}, got {region}")
    if value.shape[0] > 128 and region.on_chip:
        raise NkiError(f"{name} {role} partition dimension {value.shape[0]} exceeds maximum 128")
    if value.par != 0 and region.on_chip:
        raise NkiError(f"{name} {role}: the leading dimension of a tile must be the partition dimension")


def free_size(value: NkiTensor) -> int:
    """Elements in a partition."""
    shape = value.shape
    return shape[1] if len(shape) == 2 else value.size // shape[0]


def same_layout(name: str, role: str, value: NkiTensor, other_role: str, other: NkiTensor) -> None:
    """NkiError unless both have as many partitions and as many elements in each."""
    if value.shape == other.shape:
        return
    if value.shape[0] != other.shape[0]:
        raise NkiError(
            f"{name} {role} and {other_role} must have the same partition dimension, got {value.shape} "
            f"and {other.shape}"
        )
    if value.size != other.size:
        raise NkiError(
            f"{name} {role} and {other_role} must have the same number of elements per partition, got {value.shape} "
            f"and {other.shape}"
        )


def pick_engine(name: str, value: Any, default: str, allowed: tuple[str, ...], *tiles: Any) -> str:
    """Name of the engine that runs the instruction; GpSimd cannot reach PSUM."""
    if value is None or value is Engine.unknown:
        return default
    chosen: str = member(value, Engine, f"{name} engine").name
    if chosen == "unknown":
        return default
    if chosen not in allowed:
        raise NkiError(f"{name} engine must be one of {list(allowed)}, got {chosen}")
    if chosen == "gpsimd":
        for item in tiles:
            if isinstance(item, NkiTensor) and item.storage.region is PSUM:
                raise NkiError(f"{name} on the gpsimd engine cannot access PSUM")
    return chosen


def vector(name: str, role: str, value: Any, data: NkiTensor, ndim: int) -> Any:
    """A scalar, or a one-element-per-partition tile shaped to broadcast over `ndim` dimensions, as float32."""
    if not isinstance(value, NkiTensor):
        if value is None or isinstance(value, (str, list, tuple, np.ndarray)):
            raise NkiError(f"{name} {role} must be a scalar or a tile of shape (P, 1), got {value!r}")
        try:
            return np.float32(value)
        except (TypeError, ValueError):
            raise NkiError(f"{name} {role} must be a scalar or a tile, got {type(value).__name__}") from None
    tile(name, role, value)
    if value.size != data.shape[0] or value.shape[0] != data.shape[0]:
        raise NkiError(
            f"{name} {role} must be a scalar or a tile of shape ({data.shape[0]}, 1), got shape {value.shape}"
        )
    if value.dtype is not F32:
        current().warn(f"{name} {role} tiles must be float32 on hardware, got {value.dtype}")
    column = values(value)
    return column if column.ndim == ndim == 2 else column.reshape((value.shape[0],) + (1,) * (ndim - 1))


def write_op(dst: NkiTensor, op: Op, a: Array, b: Any, reverse: bool, mask: Array | None) -> None:
    """dst = op(a, b), straight into dst's memory when its type and layout allow."""
    if op.ufunc:
        out = out_array(dst, mask)
        if out is not None and out.shape == a.shape:
            apply(op, a, b, reverse, out)
            return
    assign(dst, apply(op, a, b, reverse), mask=mask)


def count(program: Program, key: tuple[str, str], elements: int, factor: float = 1.0, start: int = 0) -> None:
    """Count an instruction that takes max(64, factor x elements) + start cycles."""
    program.step(key, max(64, elements * factor) + start)


def same_region_pair(name: str, first: str, a: Any, second: str, b: Any) -> None:
    """NkiError when both operands are in PSUM, which has one read port for an instruction (up to trn2)."""
    if (
        isinstance(a, NkiTensor)
        and isinstance(b, NkiTensor)
        and a.storage.region is PSUM
        and b.storage.region is PSUM
        and current().generation == "new"
    ):
        raise NkiError(f"{name} {first} and {second} cannot both be in psum")
