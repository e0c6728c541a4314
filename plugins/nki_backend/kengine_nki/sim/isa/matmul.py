"""Matrix multiplication and transposes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..access import assign, raw, store, values
from ..buffers import MATMUL, MIXED, NONE, PSUM, SBUF
from ..dtypes import BF16, F32, FP8, TF32, Array
from ..enums import matmul_perf_mode, member
from ..errors import NkiError, check
from ..program import Program, current
from ..tensor import NkiTensor
from .common import free_size, pick_engine, tile

FLOATS = {"float8_e4m3", "float8_e4m3fn", "float8_e5m2", "bfloat16", "float16", "tfloat32", "float32"}


SINGLE, DOUBLE = matmul_perf_mode.none, matmul_perf_mode.double_row


def check_bank(program: Program, dst: NkiTensor, name: str) -> None:
    """One matmul writes within one PSUM bank (trn1, trn2)."""
    if program.chip.generation >= 4:
        return
    bank, size = program.chip.psum_bank_bytes, dst.dtype.itemsize
    start = dst.offset * size % dst.storage.per_partition if dst.storage.per_partition else 0
    reach = sum((n - 1) * s for n, s in zip(dst.shape[1:], dst.strides[1:])) * size
    if start // bank != (start + reach + size - 1) // bank:
        raise NkiError(
            f"{name} dst spans more than one PSUM bank of {bank} bytes: bytes [{start}, {start + reach + size - 1}] of "
            "a partition"
        )


def _check_dtypes(stationary: NkiTensor, moving: NkiTensor, double: bool) -> None:
    if stationary.dtype is moving.dtype and stationary.dtype.name in FLOATS and not double:
        return
    for role, item in (("stationary", stationary), ("moving", moving)):
        if item.dtype.name not in FLOATS:
            raise NkiError(f"nc_matmul {role} dtype {item.dtype} is not supported by the tensor engine")
        if not (not double or item.dtype in FP8):
            raise NkiError(f"nc_matmul double_row requires float8 operands, got {item.dtype}")
    wide = [t.dtype in (F32, TF32) for t in (stationary, moving)]
    if wide[0] != wide[1]:
        raise NkiError(
            f"nc_matmul: if one operand is float32 or tfloat32, the other must be too, got {stationary.dtype} and "
            f"{moving.dtype}"
        )


def _tiling(tile_position: Any, tile_size: Any) -> tuple[int, int]:
    if not tile_position and not tile_size:
        return 128, 128
    position, size = tuple(tile_position or ()), tuple(tile_size or ())
    check(
        len(position) == len(size) == 2,
        "nc_matmul tile_position and tile_size must both be set, as (row, column) pairs",
    )
    for axis in range(2):
        if size[axis] not in (32, 64, 128):
            raise NkiError(f"nc_matmul tile_size must hold 32, 64 or 128, got {size}")
        if not (position[axis] % size[axis] == 0 and position[axis] + size[axis] <= 128):
            raise NkiError(f"nc_matmul tile_position {position} does not fit tile_size {size}")
    return int(size[0]), int(size[1])


def nc_matmul(
    dst: Any, stationary: Any, moving: Any, is_stationary_onezero: bool = False, is_moving_onezero: bool = False,
    is_transpose: bool = False, accumulate: bool | None = None, tile_position: Any = (), tile_size: Any = (),
    perf_mode: Any = SINGLE,
) -> None:  # fmt: skip
    """dst (PSUM) = or += stationary.T @ moving, contracting the partition axis, in float32."""
    tile("nc_matmul", "dst", dst, (PSUM,))
    tile("nc_matmul", "stationary", stationary, (SBUF,))
    tile("nc_matmul", "moving", moving, (SBUF,))
    program = current()
    double = perf_mode is not SINGLE and member(perf_mode, matmul_perf_mode, "nc_matmul perf_mode") is DOUBLE
    k, m, n = stationary.shape[0], free_size(stationary), free_size(moving)
    if k != moving.shape[0]:
        raise NkiError(f"Matmul contraction dimension mismatch: stationary[0]={k} != moving[0]={moving.shape[0]}")
    s, v = values(stationary).reshape(k, m), values(moving).reshape(k, n)
    if double:
        check(program.chip.generation >= 3, "nc_matmul double_row is only supported for NeuronCore-v3 or newer")
        if not (stationary.ndim > 2 and moving.ndim > 2 and stationary.shape[1] == moving.shape[1] == 2):
            raise NkiError(
                f"nc_matmul double_row requires a first free dimension of 2, got {stationary.shape} and {moving.shape}"
            )
        s, v = s.reshape(2 * k, m // 2), v.reshape(2 * k, n // 2)
        m, n = m // 2, n // 2
    rows, columns = _tiling(tile_position, tile_size)
    if k > rows:
        raise NkiError(f"Matmul contraction dimension {k} exceeds pmax={rows}")
    if m > columns:
        raise NkiError(f"Matmul stationary free dimension {m} exceeds gemm_stationary_fmax={columns}")
    limit = program.chip.moving_max if dst.dtype is F32 else program.chip.moving_max_16bit
    if n > limit:
        raise NkiError(f"Matmul moving free dimension {n} exceeds gemm_moving_fmax={limit}")
    if dst.shape[0] != m or dst.size != m * n:
        raise NkiError(f"nc_matmul dst must have {m} partitions of {n} elements, got {dst.shape}")
    _check_dtypes(stationary, moving, double)
    if is_transpose:
        if dst.dtype not in (stationary.dtype, F32):
            raise NkiError(f"nc_matmul is_transpose dst must be {stationary.dtype}")
    elif program.chip.generation < 4:
        if dst.dtype is not F32:
            raise NkiError(f"nc_matmul dst dtype must be float32 on gen{program.chip.generation}, got {dst.dtype}")
    else:
        if dst.dtype not in (F32, BF16):
            raise NkiError(f"nc_matmul dst dtype must be float32 or bfloat16, got {dst.dtype}")
    check_bank(program, dst, "nc_matmul")
    passes = 4 if stationary.dtype is F32 and not (is_transpose or is_stationary_onezero or is_moving_onezero) else 1
    program.step(("nc_matmul", "tensor"), max(min(64, m), n) * passes)
    program.macs += s.shape[0] * m * n
    if is_transpose and n == k and np.array_equal(v, np.eye(k, dtype=np.float32)):
        assign(dst, np.ascontiguousarray(s.T), MATMUL)
        return
    accumulate_product(dst, s, v, accumulate, program)


def accumulate_product(dst: NkiTensor, s: Array, v: Array, accumulate: bool | None, program: Program) -> None:
    """Write s.T @ v to PSUM, or add it, as each element's tag and `accumulate` say."""
    storage = dst.storage
    fresh = accumulate is False or (accumulate is None and storage.uniform == NONE)
    if fresh:
        if dst.dtype is F32 and dst.gather is None and len(dst.shape) == 2 and dst.strides[1] == 1:
            dst.mark(MATMUL)
            np.matmul(s.T, v, out=dst.array())
        else:
            assign(dst, np.matmul(s.T, v), MATMUL)
        return
    product = np.matmul(s.T, v).reshape(dst.shape)
    if storage.uniform == MATMUL and dst.dtype is F32 and dst.gather is None:
        target = dst.array()
        dst.mark(MATMUL)
        np.add(target, product, out=target)
        return
    old = values(dst)
    tags = _tags(dst)
    started = tags != NONE if accumulate is None else np.ones(dst.shape, bool)
    if accumulate and (tags == NONE).any():
        program.warn("nc_matmul accumulate=True on PSUM never written: incorrect results on hardware")
    if (tags == 2).any() and program.generation == "new" and program.chip.generation < 4:
        program.warn("nc_matmul accumulates onto PSUM written by another instruction: incorrect results on hardware")
        old = np.where((tags == 2) & (old != 0), np.float32(np.nan), old)
    assign(dst, np.where(started, old + product, product), MATMUL)


def _tags(dst: NkiTensor) -> Array:
    if dst.storage.uniform != MIXED:
        return np.full(dst.shape, dst.storage.uniform, np.uint8)
    tags = dst.tag_array()
    return tags if tags.shape == dst.shape else tags.max(-1)


def nc_transpose(dst: Any, data: Any, engine: Any = None) -> None:
    """dst[f, p] = data[p, f], free axes flattened; 128 x 128 on the tensor engine, 32 x 32 on the vector engine."""
    name = "nc_transpose"
    tile(name, "dst", dst)
    tile(name, "data", data)
    p, f = data.shape[0], free_size(data)
    tensor_ok = dst.storage.region is PSUM and data.storage.region is SBUF
    fallback = "tensor" if tensor_ok else "vector"
    chosen = pick_engine(name, engine, fallback, ("tensor", "vector"))
    if chosen == "tensor":
        if dst.storage.region is not PSUM:
            raise NkiError(f"{name} dst must be in ['psum'] on the tensor engine, got {dst.buffer}")
        if data.storage.region is not SBUF:
            raise NkiError(f"{name} data must be in ['sbuf'] on the tensor engine, got {data.buffer}")
    limit = 128 if chosen == "tensor" else 32
    if not (p <= limit and f <= limit):
        raise NkiError(f"{name} input of shape {data.shape} exceeds ({limit}, {limit}) on the {chosen} engine")
    if dst.dtype is not data.dtype:
        raise NkiError(f"{name} dst dtype must match data dtype, got {dst.dtype} and {data.dtype}")
    if not (dst.shape[0] == f and free_size(dst) == p):
        raise NkiError(f"{name} dst must have shape ({f}, {p}), got {dst.shape}")
    cycles = max(64, f) if chosen == "vector" else max(p, min(64, f))
    current().step((name, chosen), cycles)
    from ..access import written

    valid = written(data) if data.dtype.kind != "f" else None
    flags = None if valid is None else np.ascontiguousarray(valid.reshape(p, f).T)
    store(dst, np.ascontiguousarray(raw(data).reshape(p, f).T), MATMUL, None, flags)


def matmul_tiles(x: NkiTensor, y: NkiTensor, transpose_x: bool) -> Array:
    """nl.matmul: x @ y, or x.T @ y, of tiles within the tensor engine's limits; float32 (M, N)."""
    for role, item in (("x", x), ("y", y)):
        tile("matmul", role, item)
        if item.ndim != 2:
            raise NkiError(f"matmul {role} must be a 2-dimensional tile, got shape {item.shape}")
    a, b = values(x), values(y)
    a = a.T if transpose_x else a
    m, k = a.shape
    if k != b.shape[0]:
        raise NkiError(f"Matmul contraction dimension mismatch: x has {k}, y has {b.shape[0]}")
    if k > 128:
        raise NkiError(f"Matmul contraction dimension {k} exceeds pmax=128")
    if m > 128:
        raise NkiError(f"Matmul stationary free dimension {m} exceeds gemm_stationary_fmax=128")
    program = current()
    limit = program.chip.moving_max
    if b.shape[1] > limit:
        raise NkiError(f"Matmul moving free dimension {b.shape[1]} exceeds gemm_moving_fmax={limit}")
    program.step(("nc_matmul", "tensor"), max(min(64, m), b.shape[1]) * (4 if x.dtype is F32 else 1))
    program.macs += math.prod((m, k, b.shape[1]))
    return np.matmul(a, b)
