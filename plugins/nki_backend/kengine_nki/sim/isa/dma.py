"""DMA instructions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import assign, copy, fit, raw, values, written
from ..buffers import PSUM
from ..dtypes import Array
from ..enums import dge_mode, member, oob_mode
from ..errors import NkiError, check
from ..ops import resolve
from ..program import Program, current
from ..tensor import NkiTensor


def operand(name: str, role: str, value: Any, program: Program) -> None:
    """NkiError unless `value` is a tensor in HBM or SBUF with at most 128 partitions."""
    if not isinstance(value, NkiTensor):
        raise NkiError(f"{name} {role} must be a tensor, got {type(value).__name__}")
    region = value.storage.region
    if region is PSUM and program.generation == "new":
        raise NkiError(f"{name} requires HBM or SBUF tensors, got {role}=MemoryRegion.psum")
    if region.on_chip and value.shape[0] > 128:
        raise NkiError(f"{name} {role} partition dimension {value.shape[0]} exceeds maximum 128")


def transfer(name: str, dst: NkiTensor, src: NkiTensor, program: Program) -> None:
    """Count one DMA of dst's size; no public formula says how many cycles it takes, so none are claimed."""
    program.step((name, "dma"), 0)
    program.dma_bytes += dst.size * dst.dtype.itemsize


def _skip(tensor: NkiTensor, mode: Any) -> Array | None:
    """In skip mode, the elements that are inside; the gather then stops complaining."""
    gather = tensor.gather
    if gather is None or gather.inside is None or gather.masked or mode is not oob_mode.skip:
        return None
    gather.problem = ""
    return np.broadcast_to(gather.inside, tensor.shape)


def dma_copy(
    dst: Any, src: Any, priority: Any = None, oob_mode: Any = oob_mode.error, dge_mode: Any = dge_mode.unknown,
    engine: Any = None, mask: Any = None, dst_rmw_op: Any = None,
) -> None:  # fmt: skip
    """dst = src, element by element in row-major order; types convert by way of float32."""
    program = current()
    operand("dma_copy", "dst", dst, program)
    operand("dma_copy", "src", src, program)
    if src.size != dst.size:
        raise NkiError(
            f"dma_copy requires src and dst to have the same number of elements, got src={src.size}, dst={dst.size}"
        )
    if priority is not None and program.chip.generation < 4:
        raise NkiError("dma_copy priority is only supported for NeuronCore-v4 or newer")
    transfer("dma_copy", dst, src, program)
    if src.gather is not None or dst.gather is not None:
        mode = member(oob_mode, OobMode, "dma_copy oob_mode")
        inside = _skip(src, mode)
        _skip(dst, mode)
        if inside is not None:
            inside = fit(inside, dst.shape)
            mask = inside if mask is None else mask & inside
    if dst_rmw_op is None:
        copy(dst, src, mask=mask)
        return
    op = resolve(dst_rmw_op, "dma_copy dst_rmw_op")
    if op.name != "add":
        raise NkiError(f"dma_copy dst_rmw_op must be nl.add, got nl.{op.name}")
    accumulate_into(dst, values(src, mask), mask)


OobMode = oob_mode
DgeMode = dge_mode


def accumulate_into(dst: NkiTensor, array: Array, mask: Array | None = None) -> None:
    """dst += array; a scatter with repeated indices adds each of them."""
    array = fit(array, dst.shape)
    if dst.gather is None:
        assign(dst, values(dst, mask) + array, mask=mask)
        return
    flat = np.broadcast_to(dst.gather.flat, dst.shape)
    unique, first, inverse = np.unique(flat.reshape(-1), return_index=True, return_inverse=True)
    total = values(dst, mask).reshape(-1)[first].astype(np.float64)
    keep = np.ones(dst.shape, bool) if mask is None else np.broadcast_to(mask, dst.shape)
    np.add.at(total, inverse.reshape(-1)[keep.reshape(-1)], np.broadcast_to(array, dst.shape)[keep].astype(np.float64))
    assign(dst, total[inverse].reshape(dst.shape).astype(np.float32), mask=mask)
    del unique


def dma_compute(
    dst: Any, srcs: Any, reduce_op: Any, scales: Any = None, unique_indices: bool = True,
    oob_mode: Any = oob_mode.error,
) -> None:  # fmt: skip
    """dst = sum of srcs[i] * scales[i] in float32."""
    program = current()
    operand("dma_compute", "dst", dst, program)
    check(isinstance(srcs, (list, tuple)) and 0 < len(srcs) <= 16, "dma_compute srcs must list 1 to 16 tensors")
    factors = [1.0] * len(srcs) if scales is None else list(scales)
    if len(factors) != len(srcs):
        raise NkiError(f"dma_compute needs a scale for each source, got {len(factors)} for {len(srcs)}")
    op = resolve(reduce_op, "dma_compute reduce_op")
    if op.name != "add":
        raise NkiError(f"dma_compute reduce_op must be nl.add, got nl.{op.name}")
    mode = member(oob_mode, OobMode, "dma_compute oob_mode")
    total: Any = None
    for number, src in enumerate(srcs):
        operand("dma_compute", f"srcs[{number}]", src, program)
        if src.size != dst.size:
            raise NkiError(
                f"dma_compute requires sources and dst to have the same number of elements, got {src.size} and "
                f"{dst.size}"
            )
        _skip(src, mode)
        term = fit(values(src), dst.shape) * np.float32(factors[number])
        total = term if total is None else total + term
    _skip(dst, mode)
    transfer("dma_compute", dst, srcs[0], program)
    if not unique_indices and dst.gather is not None:
        own = [s for s in srcs if s.storage is dst.storage and s.gather is not None]
        if len(own) == 1 and len(srcs) == 2:
            other = next(s for s in srcs if s is not own[0])
            accumulate_into(dst, fit(values(other), dst.shape))
            return
    assign(dst, total)


AXES = {2: (1, 0), 3: (2, 1, 0), 4: (3, 1, 2, 0)}


def transpose_axes(src: NkiTensor, axes: Any) -> tuple[int, ...]:
    """The permutation of a DMA transpose. NkiError for ranks other than 2 to 4 and for other permutations."""
    if src.ndim not in AXES:
        raise NkiError(f"dma_transpose supports 2 to 4 dimensions, got shape {src.shape}")
    order = AXES[src.ndim] if axes is None else tuple(int(a) for a in axes)
    if order != AXES[src.ndim]:
        raise NkiError(f"dma_transpose axes must be one of [(1,0),(2,1,0),(3,1,2,0)], got {order}")
    return order


def dma_transpose(
    dst: Any, src: Any, axes: Any = None, priority: Any = None, dge_mode: Any = dge_mode.unknown,
    oob_mode: Any = oob_mode.error, mask: Any = None,
) -> None:  # fmt: skip
    """dst = transpose of src by (1,0), (2,1,0) or (3,1,2,0)."""
    program = current()
    operand("dma_transpose", "dst", dst, program)
    operand("dma_transpose", "src", src, program)
    order = transpose_axes(src, axes)
    if priority is not None and program.chip.generation < 4:
        raise NkiError("dma_transpose priority is only supported for NeuronCore-v4 or newer")
    mode = member(dge_mode, DgeMode, "dma_transpose dge_mode")
    check(mode is not DgeMode.swdge or src.ndim == 3, "dma_transpose with swdge requires a 3-dimensional source")
    if mode is DgeMode.hwdge and src.dtype.itemsize != 2:
        raise NkiError(f"dma_transpose with hwdge requires a 2-byte dtype, got {src.dtype}")
    _skip(src, member(oob_mode, OobMode, "dma_transpose oob_mode"))
    shape = tuple(src.shape[a] for a in order)
    if not (dst.size == src.size and dst.shape[0] == shape[0]):
        raise NkiError(f"dma_transpose dst must have shape {shape}, got {dst.shape}")
    if dst.dtype.itemsize != src.dtype.itemsize:
        raise NkiError(f"dma_transpose cannot convert {src.dtype} to {dst.dtype}")
    transfer("dma_transpose", dst, src, program)
    array = np.ascontiguousarray(raw(src, mask).transpose(order))
    valid = written(src) if src.dtype.kind != "f" else None
    flags = None if valid is None else np.ascontiguousarray(valid.transpose(order))
    if dst.dtype is src.dtype:
        from ..access import store

        store(dst, array, mask=mask, valid=flags)
    else:
        assign(dst, np.ascontiguousarray(values(src, mask).transpose(order)), mask=mask)
