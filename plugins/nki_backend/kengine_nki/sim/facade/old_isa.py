"""neuronxcc.nki.isa: instructions that return their result as a new tile."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import enums
from ..allocation import ParDim, new_tile
from ..buffers import PSUM, SBUF
from ..dtypes import F32, U32, as_dtype
from ..enums import reduce_cmd
from ..errors import NkiError
from ..grids import Grid
from ..isa import activate, dma, elementwise, matmul, random, reduce, search, select, shuffle, statistics
from ..isa.common import tile
from ..isa.language import filled
from ..program import current
from .modules import FacadeModule, make_module, refuse
from .signatures import expose, load_api

Cmd = reduce_cmd


def _like(data: Any, dtype: Any, shape: Any = None, name: str = "instruction", role: str = "data") -> Any:
    """A result tile with the shape of `data`, of its type unless `dtype` is given."""
    tile(name, role, data)
    return new_tile(data.shape if shape is None else shape, data.dtype if dtype is None else as_dtype(dtype))


def activation(
    op: Any, data: Any, bias: Any = None, scale: Any = 1.0, reduce_op: Any = None, reduce_res: Any = None,
    reduce_cmd: Any = Cmd.idle, mask: Any = None, dtype: Any = None,
) -> Any:  # fmt: skip
    """op(data * scale + bias)."""
    dst = _like(data, dtype, name="activation")
    activate.activation(dst, op, data, bias, scale, reduce_op, reduce_res, reduce_cmd, mask)
    return dst


def activation_reduce(
    op: Any, data: Any, reduce_op: Any, reduce_res: Any, bias: Any = None, scale: Any = 1.0, mask: Any = None,
    dtype: Any = None,
) -> Any:  # fmt: skip
    """op(data * scale + bias), and its sum over the free axes to reduce_res."""
    dst = _like(data, dtype, name="activation_reduce")
    activate.activation_reduce(dst, op, data, reduce_op, reduce_res, bias, scale, mask)
    return dst


def affine_select(pred: Any, on_true_tile: Any, on_false_value: Any, mask: Any = None, dtype: Any = None) -> Any:
    """on_true_tile where the index predicate holds, else on_false_value."""
    if not isinstance(pred, np.ndarray):
        raise NkiError(f"affine_select pred must be a comparison of indices, got {type(pred).__name__}")
    dst = _like(on_true_tile, dtype, name="affine_select", role="on_true_tile")
    select.select_predicate(dst, pred, on_true_tile, on_false_value, mask)
    return dst


def bn_stats(data: Any, mask: Any = None, dtype: Any = None) -> Any:
    """Statistics of even and odd elements, (P, 6)."""
    dst = _like(data, dtype, (data.shape[0], 6), "bn_stats")
    statistics.bn_stats(dst, data, mask)
    return dst


def bn_aggr(data: Any, mask: Any = None, dtype: Any = None) -> Any:
    """Mean and variance, (P, 2)."""
    dst = _like(data, dtype, (data.shape[0], 2), "bn_aggr")
    statistics.bn_aggr(dst, data)
    return dst


def dma_copy(
    dst: Any, src: Any, mask: Any = None, dst_rmw_op: Any = None, oob_mode: Any = enums.oob_mode.error,
    dge_mode: Any = enums.dge_mode.unknown,
) -> None:  # fmt: skip
    """dst = src, or dst += src."""
    dma.dma_copy(dst, src, None, oob_mode, dge_mode, None, mask, dst_rmw_op)


def dma_transpose(src: Any, axes: Any = None, mask: Any = None, dtype: Any = None) -> Any:
    """Transpose by (1,0), (2,1,0) or (3,1,2,0)."""
    order = dma.transpose_axes(src, axes)
    dst = new_tile(tuple(src.shape[a] for a in order), src.dtype if dtype is None else as_dtype(dtype))
    dma.dma_transpose(dst, src, axes, mask=None if mask is None else np.broadcast_to(mask, src.shape).transpose(order))
    return dst


def dropout(data: Any, prob: Any, mask: Any = None, dtype: Any = None) -> Any:
    """data with elements zero with probability prob."""
    dst = _like(data, dtype, name="dropout")
    random.dropout(dst, data, prob, mask)
    return dst


def iota(expr: Any, dtype: Any, mask: Any = None) -> Any:
    """A tile of the values of an index expression."""
    if not isinstance(expr, (Grid, np.ndarray)):
        raise NkiError(f"iota expr must be an index expression, got {type(expr).__name__}")
    numbers = expr.array() if isinstance(expr, Grid) else expr
    kind = as_dtype(dtype)
    current().step(("iota", "gpsimd"), 150 + numbers[0].size)
    dst = new_tile(numbers.shape, kind)
    from ..access import assign

    assign(dst, numbers if kind.is_int else numbers.astype(np.float32), mask=mask)
    return dst


def local_gather(
    src_buffer: Any, index: Any, num_elem_per_idx: int = 1, num_valid_indices: Any = None, mask: Any = None
) -> Any:
    """Runs of elements from the element offsets in `index`, by groups of 16 partitions."""
    picked = search.gathered_locally(src_buffer, index, int(num_elem_per_idx), num_valid_indices)
    partitions, total, per = picked.shape
    shape = (partitions, index.shape[1], 16, per) if total == index.shape[1] * 16 else picked.shape
    dst = new_tile(shape, src_buffer.dtype)
    from ..access import store

    store(dst, picked.reshape(shape), mask=mask)
    return dst


def max8(src: Any, mask: Any = None, dtype: Any = None) -> Any:
    """The 8 largest values of each partition."""
    dst = _like(src, dtype, (src.shape[0], 8), "max8", "src")
    search.max8(dst, src, mask)
    return dst


def memset(shape: Any, value: Any, dtype: Any, mask: Any = None, engine: Any = None) -> Any:
    """A new tile of `value`."""
    sizes = [int(n) for n in shape]
    out = filled((ParDim(sizes[0]), *sizes[1:]), value, dtype)
    if mask is not None:
        fresh = new_tile(out.shape, out.dtype)
        elementwise.tensor_copy(fresh, out, mask=np.broadcast_to(mask, out.shape))
        return fresh
    return out


def nc_find_index8(data: Any, vals: Any, mask: Any = None, dtype: Any = None) -> Any:
    """Index of the first occurrence of each of 8 values."""
    dst = _like(data, U32 if dtype is None else dtype, (data.shape[0], 8), "nc_find_index8")
    search.nc_find_index8(dst, data, vals, mask)
    return dst


def nc_match_replace8(data: Any, vals: Any, imm: Any, dst_idx: Any = None, mask: Any = None, dtype: Any = None) -> Any:
    """data with the first occurrence of each of 8 values replaced."""
    dst = _like(data, dtype, name="nc_match_replace8")
    search.nc_match_replace8(dst, data, vals, imm, dst_idx, mask)
    return dst


def nc_matmul(
    stationary: Any, moving: Any, is_stationary_onezero: bool = False, is_moving_onezero: bool = False,
    is_transpose: bool = False, tile_position: Any = (), tile_size: Any = (), mask: Any = None,
) -> Any:  # fmt: skip
    """stationary.T @ moving as a new PSUM tile."""
    tile("nc_matmul", "stationary", stationary, (SBUF,))
    tile("nc_matmul", "moving", moving, (SBUF,))
    m = math.prod(stationary.shape[1:])
    n, limits = math.prod(moving.shape[1:]), current().chip
    if m > 128:
        raise NkiError(f"Matmul stationary free dimension {m} exceeds gemm_stationary_fmax=128")
    if n > limits.moving_max:
        raise NkiError(f"Matmul moving free dimension {n} exceeds gemm_moving_fmax={limits.moving_max}")
    dst = new_tile((m, *moving.shape[1:]), stationary.dtype if is_transpose else F32, PSUM)
    matmul.nc_matmul(
        dst, stationary, moving, is_stationary_onezero, is_moving_onezero, is_transpose, False, tile_position, tile_size
    )
    if mask is not None:
        masked = new_tile(dst.shape, dst.dtype, PSUM)
        elementwise.tensor_copy(masked, dst, mask=np.broadcast_to(mask, dst.shape))
        return masked
    return dst


def nc_stream_shuffle(src: Any, dst: Any, shuffle_mask: Any, dtype: Any = None, mask: Any = None) -> None:
    """Move partitions of src to dst within each 32."""
    shuffle.nc_stream_shuffle(dst, src, shuffle_mask, mask)


def nc_transpose(data: Any, mask: Any = None, dtype: Any = None, engine: Any = None) -> Any:
    """The 2-D transpose of a tile, in PSUM when the tensor engine makes it."""
    tile("nc_transpose", "data", data)
    p, f = data.shape[0], data.size // data.shape[0]
    small = p <= 32 and f <= 32
    on_vector = engine is enums.engine.vector or data.buffer is PSUM or (small and engine is enums.engine.vector)
    if max(p, f) > 128:
        raise NkiError(f"nc_transpose input of shape {data.shape} exceeds (128, 128) on the tensor engine")
    dst = new_tile((f, p), data.dtype, SBUF if on_vector else PSUM)
    matmul.nc_transpose(dst, data, engine)
    if (dtype is not None and as_dtype(dtype) is not data.dtype) or mask is not None:
        out = new_tile((f, p), data.dtype if dtype is None else as_dtype(dtype), dst.buffer)
        flipped = None if mask is None else np.broadcast_to(mask, data.shape).reshape(p, f).T
        elementwise.tensor_copy(out, dst, mask=flipped)
        return out
    return dst


def range_select(
    on_true_tile: Any, comp_op0: Any, comp_op1: Any, bound0: Any, bound1: Any, reduce_cmd: Any = Cmd.idle,
    reduce_res: Any = None, reduce_op: Any = None, range_start: Any = 0, on_false_value: Any = None, mask: Any = None,
    dtype: Any = None,
) -> Any:  # fmt: skip
    """on_true_tile where the free index lies within the bounds, else the smallest float32."""
    dst = _like(on_true_tile, dtype, name="range_select", role="on_true_tile")
    select.range_select(
        dst, on_true_tile, comp_op0, comp_op1, bound0, bound1, Cmd.reset_reduce, reduce_res, reduce_op, range_start,
        mask=mask,
    )  # fmt: skip
    return dst


def reciprocal(data: Any, dtype: Any = None, mask: Any = None) -> Any:
    """1 / data."""
    dst = _like(data, dtype, name="reciprocal")
    elementwise.reciprocal(dst, data, mask)
    return dst


def scalar_tensor_tensor(
    data: Any, op0: Any, operand0: Any, op1: Any, operand1: Any, reverse0: bool = False, reverse1: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """(data op0 operand0) op1 operand1."""
    dst = _like(data, dtype, name="scalar_tensor_tensor")
    elementwise.scalar_tensor_tensor(dst, data, op0, operand0, op1, operand1, reverse0, reverse1, mask)
    return dst


def select_reduce(
    dst: Any, predicate: Any, on_true: Any, on_false: Any, reduce_res: Any = None, reduce_cmd: Any = Cmd.idle,
    reduce_op: Any = None, reverse_pred: bool = False, mask: Any = None, dtype: Any = None,
) -> None:  # fmt: skip
    """dst = where(predicate, on_true, on_false), with an optional running maximum."""
    select.select_reduce(dst, predicate, on_true, on_false, reduce_res, reduce_cmd, reduce_op, reverse_pred, mask)


def sequence_bounds(segment_ids: Any, dtype: Any = None) -> Any:
    """Start and end of each element's segment, (1, 2, n)."""
    n = segment_ids.size // segment_ids.shape[0]
    dst = _like(segment_ids, dtype, (1, 2, n), "sequence_bounds", "segment_ids")
    search.sequence_bounds(dst, segment_ids)
    return dst


def tensor_copy(src: Any, mask: Any = None, dtype: Any = None, engine: Any = None) -> Any:
    """A copy of a tile in SBUF."""
    dst = _like(src, dtype, name="tensor_copy", role="src")
    elementwise.tensor_copy(dst, src, engine, mask)
    return dst


def tensor_copy_dynamic_src(src: Any, mask: Any = None, dtype: Any = None, engine: Any = None) -> Any:
    """A copy of a tile addressed by a dynamic index."""
    return tensor_copy(src, mask, dtype, engine)


def tensor_copy_dynamic_dst(dst: Any, src: Any, mask: Any = None, dtype: Any = None, engine: Any = None) -> None:
    """dst = src, dst addressed by a dynamic index."""
    elementwise.tensor_copy(dst, src, engine, mask)


def tensor_copy_predicated(
    src: Any, dst: Any, predicate: Any, reverse_pred: bool = False, mask: Any = None, dtype: Any = None
) -> None:
    """dst = src where the predicate is set."""
    select.tensor_copy_predicated(dst, src, predicate, reverse_pred, mask)


def tensor_partition_reduce(op: Any, data: Any, mask: Any = None, dtype: Any = None) -> Any:
    """Reduction over partitions, (1, ...)."""
    dst = _like(data, dtype, (1, *data.shape[1:]), "tensor_partition_reduce")
    reduce.tensor_partition_reduce(dst, op, data, mask)
    return dst


def tensor_reduce(
    op: Any, data: Any, axis: Any, mask: Any = None, dtype: Any = None, negate: bool = False, keepdims: bool = False
) -> Any:
    """Reduction over free axes."""
    tile("tensor_reduce", "data", data)
    axes = reduce.axes_of(axis, data.ndim)
    shape = [1 if a in axes else n for a, n in enumerate(data.shape) if keepdims or a not in axes or a == 0]
    dst = _like(data, dtype, tuple(shape), "tensor_reduce")
    reduce.tensor_reduce(dst, op, data, axis, negate, keepdims, mask)
    return dst


def tensor_scalar(
    data: Any, op0: Any, operand0: Any, reverse0: bool = False, op1: Any = None, operand1: Any = None,
    reverse1: bool = False, dtype: Any = None, mask: Any = None, engine: Any = None,
) -> Any:  # fmt: skip
    """(data op0 operand0) op1 operand1."""
    dst = _like(data, dtype, name="tensor_scalar")
    elementwise.tensor_scalar(dst, data, op0, operand0, reverse0, op1, operand1, reverse1, engine, mask)
    return dst


def tensor_scalar_reduce(
    data: Any, op0: Any, operand0: Any, reduce_op: Any, reduce_res: Any, reverse0: bool = False, dtype: Any = None,
    mask: Any = None,
) -> Any:  # fmt: skip
    """data op0 operand0, and its reduction over the free axes to reduce_res."""
    dst = _like(data, dtype, name="tensor_scalar_reduce")
    reduce.tensor_scalar_reduce(dst, data, op0, operand0, reduce_op, reduce_res, reverse0, mask=mask)
    return dst


def tensor_tensor(data1: Any, data2: Any, op: Any, dtype: Any = None, mask: Any = None, engine: Any = None) -> Any:
    """op(data1, data2)."""
    dst = _like(data1, dtype, name="tensor_tensor", role="data1")
    elementwise.tensor_tensor(dst, data1, data2, op, engine, mask)
    return dst


def tensor_tensor_scan(
    data0: Any, data1: Any, initial: Any, op0: Any, op1: Any, reverse0: bool = False, reverse1: bool = False,
    dtype: Any = None, mask: Any = None,
) -> Any:  # fmt: skip
    """Scan along the free axis."""
    dst = _like(data0, dtype, name="tensor_tensor_scan", role="data0")
    reduce.tensor_tensor_scan(dst, data0, data1, initial, op0, op1, reverse0, reverse1, mask)
    return dst


def get_nc_version() -> enums.nc_version:
    """Generation of the core."""
    return enums.nc_version(current().chip.generation)


IMPLEMENTATIONS: list[Callable[..., Any]] = [
    activation, activation_reduce, affine_select, bn_aggr, bn_stats, dma_copy, dma_transpose, dropout, get_nc_version,
    iota, local_gather, max8, memset, nc_find_index8, nc_match_replace8, nc_matmul, nc_stream_shuffle, nc_transpose,
    range_select, reciprocal, scalar_tensor_tensor, select_reduce, sequence_bounds, tensor_copy,
    tensor_copy_dynamic_dst, tensor_copy_dynamic_src, tensor_copy_predicated, tensor_partition_reduce, tensor_reduce,
    tensor_scalar, tensor_scalar_reduce, tensor_tensor, tensor_tensor_scan,
]  # fmt: skip
UNSUPPORTED_ISA = {"builtin_custom_op": "it calls a compiled library"}


class fp32:
    """Limits of float32."""

    min = float(np.finfo(np.float32).min)


def isa_module() -> FacadeModule:
    """neuronxcc.nki.isa."""
    table = load_api()["old"]["isa"]
    names: dict[str, Any] = {f.__name__: expose(f.__name__, table[f.__name__], f, "old") for f in IMPLEMENTATIONS}
    for name, why in UNSUPPORTED_ISA.items():
        names[name] = refuse(f"neuronxcc.nki.isa.{name}", why)
    for kind in ("engine", "reduce_cmd", "dge_mode", "oob_mode", "nc_version"):
        names[kind] = getattr(enums, kind)
    for unit in ("tensor", "vector", "scalar", "gpsimd", "unknown"):
        names[f"{unit}_engine"] = enums.engine[unit]
    names.update(dma_engine=enums.engine.dma, fp32=fp32)
    return make_module("neuronxcc.nki.isa", "Instructions of the NeuronCore.", **names)
