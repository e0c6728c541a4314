"""Enumerations of nki.isa."""

from __future__ import annotations

import enum
from typing import Any

from .errors import NkiError
from .program import current


class engine(enum.Enum):
    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(enum.Enum):
    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4


class dge_mode(enum.Enum):
    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(enum.Enum):
    error = 0
    skip = 1


class matmul_perf_mode(enum.Enum):
    none = 0
    double_row = 1


class nc_version(enum.IntEnum):
    gen2 = 2
    gen3 = 3
    gen4 = 4


class dma_engine(enum.Enum):
    dma = 0
    gpsimd_dma = 1


def member(value: Any, kind: type[enum.Enum], what: str) -> Any:
    """`value` if it is a member of `kind`. NkiError for ints and strings."""
    if isinstance(value, kind):
        return value
    if current().generation == "old" and isinstance(value, int):
        return kind(value)
    raise NkiError(f"{what} must be a member of nki.isa.{kind.__name__}, got {value!r}")
