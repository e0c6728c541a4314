"""Moves between partitions, and between the cores of a logical NeuronCore."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..access import raw, store, written
from ..buffers import SBUF
from ..errors import NkiError
from ..program import Program, current
from ..views import scalar_index
from .common import count, free_size, same_layout, tile

KEEP = 255


def nc_stream_shuffle(dst: Any, src: Any, shuffle_mask: Any, mask: Any = None) -> None:
    """In each 32 partitions, dst[i] = src[shuffle_mask[i]]; 255 keeps dst[i]."""
    name = "nc_stream_shuffle"
    tile(name, "dst", dst)
    tile(name, "src", src)
    picks = [scalar_index(m) for m in shuffle_mask]
    if len(picks) != 32:
        raise NkiError(f"{name} shuffle_mask must have 32 elements, got {len(picks)}")
    if not all(0 <= m < 32 or m == KEEP for m in picks):
        raise NkiError(f"{name} shuffle_mask must hold 0 to 31 or 255, got {picks}")
    if dst.dtype is not src.dtype:
        raise NkiError(f"{name} dst and src must have the same dtype, got {dst.dtype} and {src.dtype}")
    if free_size(dst) != free_size(src):
        raise NkiError(
            f"{name} dst and src must have the same number of elements per partition, got {dst.shape} and {src.shape}"
        )
    count(current(), (name, "vector"), free_size(dst))
    source = raw(src)
    source = source.reshape(source.shape[0], -1).copy()
    flags = written(src)
    rows, keep = np.zeros(dst.shape[0], np.int64), np.zeros(dst.shape[0], bool)
    for p in range(dst.shape[0]):
        pick = picks[p % 32]
        keep[p] = pick == KEEP
        if not keep[p]:
            rows[p] = p // 32 * 32 + pick
            if rows[p] >= src.shape[0]:
                if src.shape[0] > 32:
                    raise NkiError(f"{name} shuffle_mask[{p % 32}]={pick} reads partition {rows[p]} of {src.shape}")
                rows[p] = pick
                if pick >= src.shape[0]:
                    raise NkiError(f"{name} shuffle_mask[{p % 32}]={pick} exceeds src of shape {src.shape}")
    result = source[rows].reshape(dst.shape)
    where = None if not keep.any() else np.broadcast_to(~keep.reshape((-1,) + (1,) * (dst.ndim - 1)), dst.shape)
    where = mask if where is None else where if mask is None else where & mask
    valid = None
    if flags is not None and src.dtype.kind != "f":
        valid = flags.reshape(source.shape)[rows].reshape(dst.shape)
    store(dst, result, mask=where, valid=valid)


def _pair(program: Program, name: str) -> Any:
    if program.chip.generation < 3:
        raise NkiError(f"{name} is only supported for NeuronCore-v3 or newer")
    if program.launch.rendezvous is None:
        raise NkiError(f"{name} needs a kernel launched on LNC 2, as in kernel[2](...)")
    return program.launch.rendezvous


def core_barrier(data: Any, cores: Any, engine: Any = None) -> None:
    """Wait until both cores are here."""
    program = current()
    pair = _pair(program, "core_barrier")
    if tuple(cores) != (0, 1):
        raise NkiError(f"core_barrier cores must be (0, 1), got {tuple(cores)}")
    if data.on_chip:
        raise NkiError(f"core_barrier data must be in shared_hbm, got {data.buffer}")
    program.step(("core_barrier", "gpsimd"), 64)
    pair.meet(program.rank, "core_barrier")


def sendrecv(src: Any, dst: Any, send_to_rank: Any, recv_from_rank: Any, pipe_id: Any, dma_engine: Any = None) -> None:
    """Send src to the other core and receive its tile into dst."""
    program = current()
    pair = _pair(program, "sendrecv")
    tile("sendrecv", "src", src, (SBUF,))
    tile("sendrecv", "dst", dst, (SBUF,))
    same_layout("sendrecv", "src", src, "dst", dst)
    if src.dtype is not dst.dtype:
        raise NkiError(f"sendrecv src and dst must have the same dtype, got {src.dtype} and {dst.dtype}")
    to, source = scalar_index(send_to_rank), scalar_index(recv_from_rank)
    if not (to in (0, 1) and source in (0, 1)):
        raise NkiError(f"sendrecv ranks must be 0 or 1, got {to} and {source}")
    if to != source:
        raise NkiError(f"sendrecv between two cores must send to and receive from the same rank, got {to} and {source}")
    program.step(("sendrecv", "dma"), 0)
    program.dma_bytes += src.size * src.dtype.itemsize
    flags = written(src)
    mine = (raw(src).copy(), None if flags is None else flags.copy())
    if to == program.rank:
        theirs = mine
    else:
        theirs = pair.meet(program.rank, ("sendrecv", scalar_index(pipe_id)), mine)
    if theirs[0].size != dst.size:
        raise NkiError(f"sendrecv received {theirs[0].size} elements for a tile of {dst.size}")
    store(dst, theirs[0], valid=None if src.dtype.kind == "f" else theirs[1])
