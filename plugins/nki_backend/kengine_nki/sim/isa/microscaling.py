"""Microscaling (MX) instructions of trn3: 32 elements, 8 partitions by 4, share one power-of-two scale."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import raw, store, values
from ..buffers import PSUM, SBUF
from ..dtypes import BF16, E2M1FN_X4, E4M3FN_X4, E5M2_X4, F16, F32, U8, Array, DType, pack, unpack
from ..errors import NkiError
from ..program import Program, current
from .common import count, free_size, tile
from .matmul import accumulate_product

LARGEST = {E5M2_X4: (57344.0, 15), E4M3FN_X4: (448.0, 8), E2M1FN_X4: (6.0, 2)}
GROUP = 8


def _newest(program: Program, name: str) -> None:
    if program.chip.generation < 4:
        raise NkiError(f"{name} is only supported for NeuronCore-v4 or newer")


def scale_rows(partitions: int) -> Array:
    """Partition of the scale tile that holds the scales of each group of 8 data partitions."""
    group = np.arange(partitions // GROUP)
    return group // 4 * 32 + group % 4


def quantize(v: Array, dtype: DType) -> tuple[Array, Array]:
    """Packed data (P, F/4) and scale exponents (P/8, F/4) of float32 (P, F)."""
    largest, exponent = LARGEST[dtype]
    p, f = v.shape
    exponents = (np.ascontiguousarray(v, np.float32).view(np.uint32) >> 23 & 0xFF).reshape(p // GROUP, GROUP, f // 4, 4)
    scales = np.clip(exponents.max(axis=(1, 3)).astype(np.int64) - exponent, 0, 254)
    factor = np.repeat(np.repeat(np.ldexp(1.0, scales - 127), GROUP, 0), 4, 1)
    return pack(np.clip(v / factor, -largest, largest).astype(np.float32), dtype), scales.astype(np.uint8)


def dequantize(data: Array, scales: Array, dtype: DType) -> Array:
    """float32 (P, F, 4) of packed data (P, F) and scale exponents (P/8, F)."""
    p, f = data.shape
    lanes = unpack(data, dtype).reshape(p, f, 4)
    factor = np.ldexp(np.float32(1), scales.astype(np.int32) - 127).astype(np.float32)
    return lanes * np.repeat(factor, GROUP, 0)[:, :, None]


def quantize_mx(dst: Any, src: Any, dst_scale: Any) -> None:
    """dst, dst_scale = src as MXFP8 data and scales, in the layout that nc_matmul_mx reads."""
    name = "quantize_mx"
    program = current()
    _newest(program, name)
    for role, item in (("dst", dst), ("src", src), ("dst_scale", dst_scale)):
        tile(name, role, item, (SBUF,))
    if src.dtype not in (F16, BF16):
        raise NkiError(f"{name} src must be float16 or bfloat16, got {src.dtype}")
    if dst.dtype not in (E5M2_X4, E4M3FN_X4):
        raise NkiError(f"{name} dst must be float8_e5m2_x4 or float8_e4m3fn_x4, got {dst.dtype}")
    if dst_scale.dtype is not U8:
        raise NkiError(f"{name} dst_scale must be uint8, got {dst_scale.dtype}")
    p, f = src.shape[0], free_size(src)
    if not (p % 32 == 0 and f % 4 == 0):
        raise NkiError(f"{name} src needs partitions % 32 == 0 and free size % 4 == 0, got {src.shape}")
    if not (dst.shape[0] == p and free_size(dst) * 4 == f):
        raise NkiError(f"{name} dst must have shape ({p}, {f // 4}), got {dst.shape}")
    rows = scale_rows(p)
    if not (dst_scale.shape[0] > rows[-1] and free_size(dst_scale) == f // 4):
        raise NkiError(
            f"{name} dst_scale must have {f // 4} elements in at least {rows[-1] + 1} partitions, got {dst_scale.shape}"
        )
    count(program, (name, "vector"), f)
    data, scales = quantize(values(src).reshape(p, f), dst.dtype)
    store(dst, data)
    full = np.zeros((dst_scale.shape[0], f // 4), np.uint8)
    full[rows] = scales
    used = np.zeros((dst_scale.shape[0],) + (1,) * (dst_scale.ndim - 1), bool)
    used[rows] = True
    store(dst_scale, full, mask=np.broadcast_to(used, dst_scale.shape))


def _operand(role: str, data: Any, scale: Any, limit: int) -> Array:
    name = "nc_matmul_mx"
    tile(name, role, data, (SBUF,))
    tile(name, f"{role}_scale", scale, (SBUF,))
    if data.dtype not in LARGEST:
        raise NkiError(f"{name} {role} must be a packed x4 type, got {data.dtype}")
    if scale.dtype is not U8:
        raise NkiError(f"{name} {role}_scale must be uint8, got {scale.dtype}")
    p, f = data.shape[0], free_size(data)
    if p not in (32, 64, 128):
        raise NkiError(f"Matmul contraction dimension of {name} must be 32, 64 or 128 partitions, got {p}")
    if f > limit:
        raise NkiError(f"Matmul {role} free dimension {f} exceeds {limit}")
    rows = scale_rows(p)
    table = raw(scale).reshape(scale.shape[0], -1)
    if not (scale.shape[0] > rows[-1] and table.shape[1] >= f):
        raise NkiError(
            f"{name} {role}_scale must have {f} elements in at least {rows[-1] + 1} partitions, got {scale.shape}"
        )
    return dequantize(raw(data).reshape(p, f), table[rows, :f], data.dtype)


def nc_matmul_mx(
    dst: Any, stationary: Any, moving: Any, stationary_scale: Any, moving_scale: Any, tile_position: Any = None,
    tile_size: Any = None, accumulate: bool | None = None,
) -> None:  # fmt: skip
    """dst (PSUM) = or += the product of two MX matrices, contracting partitions and the 4 packed lanes."""
    program = current()
    _newest(program, "nc_matmul_mx")
    tile("nc_matmul_mx", "dst", dst, (PSUM,))
    if dst.dtype not in (F32, BF16):
        raise NkiError(f"nc_matmul_mx dst must be float32 or bfloat16, got {dst.dtype}")
    s = _operand("stationary", stationary, stationary_scale, 128)
    v = _operand("moving", moving, moving_scale, 512 if dst.dtype is F32 else 1024)
    k, m, n = s.shape[0], s.shape[1], v.shape[1]
    if k != v.shape[0]:
        raise NkiError(f"Matmul contraction dimension mismatch: stationary[0]={k} != moving[0]={v.shape[0]}")
    if m % 2 != 0:
        raise NkiError(f"nc_matmul_mx stationary free dimension must be even, got {m}")
    if not (dst.shape[0] == m and free_size(dst) == n):
        raise NkiError(f"nc_matmul_mx dst must have shape ({m}, {n}), got {dst.shape}")
    program.step(("nc_matmul_mx", "tensor"), max(min(64, m), n))
    program.macs += 4 * k * m * n
    s, v = s.transpose(0, 2, 1).reshape(4 * k, m), v.transpose(0, 2, 1).reshape(4 * k, n)
    accumulate_product(dst, s, v, accumulate, program)
