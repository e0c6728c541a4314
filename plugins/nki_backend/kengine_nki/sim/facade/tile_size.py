"""`nl.tile_size`, for the chip of the running session."""

from __future__ import annotations

from ..limits import Chip, find_chip
from ..program import state
from ..session import active_session


def _chip() -> Chip:
    program = state.program
    if program is not None:
        return program.chip
    session = active_session()
    return session.options.limits if session is not None else find_chip("trn2")


class TileSize:
    """Tile limits: counts of float32 elements, or bytes where the name says so."""

    pmax = 128
    psum_fmax = 512
    psum_bank_fmax = 512
    psum_bank_fmax_bytes = 2048
    psum_num_banks = 8
    psum_min_align = 4
    sbuf_min_align = 1
    gemm_stationary_fmax = 128
    gemm_moving_fmax = 512
    bn_stats_fmax = 512

    @property
    def sbuf_size_bytes(self) -> int:
        return _chip().sbuf_bytes

    @property
    def sbuf_fmax_bytes(self) -> int:
        return _chip().sbuf_bytes

    @property
    def sbuf_fmax(self) -> int:
        return _chip().sbuf_bytes // 4

    @property
    def total_available_sbuf_size(self) -> int:
        return min(_chip().sbuf_bytes, 192 * 1024) - 16
