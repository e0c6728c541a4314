"""Occupancy against figures of the vendor's calculators."""

from __future__ import annotations

import pytest
from kengine_triton import occupancy
from kengine_triton.chips import CHIPS


@pytest.mark.parametrize(
    "arch, registers, shared, warps, expected",
    [
        ("sm_80", 32, 0, 4, 1.0),  # 2048 threads of 32 registers take the whole file
        ("sm_80", 33, 0, 4, 48 / 64),  # 40 after rounding up: 1280 a warp, 51 warps, 48 in whole blocks
        ("sm_80", 255, 0, 4, 8 / 64),  # 8192 a warp
        ("sm_80", 128, 0, 8, 16 / 64),
        ("sm_80", 16, 0, 1, 32 / 64),  # no more than 32 blocks
        ("sm_80", 32, 81_920, 4, 8 / 64),  # two blocks of 81 KiB in 164 KiB
        ("sm_80", 32, 82_944, 4, 8 / 64),
        ("sm_80", 32, 82_945, 4, 4 / 64),
        ("sm_90", 168, 200_000, 4, 4 / 64),
        ("sm_120", 32, 0, 4, 1.0),
        ("sm_120", 16, 0, 1, 24 / 48),
    ],
)
def test_nvidia(arch: str, registers: int, shared: int, warps: int, expected: float) -> None:
    assert occupancy.nvidia(CHIPS[arch], registers, shared, warps) == pytest.approx(expected)


def test_nvidia_without_room() -> None:
    assert occupancy.nvidia(CHIPS["sm_80"], 32, 167_936, 4) is None
    assert occupancy.nvidia(CHIPS["sm_80"], 255, 0, 16) is None


@pytest.mark.parametrize(
    "arch, waves, shared, warps, expected",
    [
        ("gfx942", 8, 0, 4, 1.0),
        ("gfx942", 4, 0, 4, 0.5),
        ("gfx942", 8, 65536, 4, 1 / 8),  # one group of four waves over four SIMDs
        ("gfx942", 8, 32768, 8, 4 / 8),
        ("gfx950", 8, 65536, 4, 2 / 8),
        ("gfx1100", 16, 0, 4, 1.0),
    ],
)
def test_amd(arch: str, waves: int, shared: int, warps: int, expected: float) -> None:
    assert occupancy.amd(CHIPS[arch], waves, shared, warps) == pytest.approx(expected)


def test_amd_registers() -> None:
    assert [occupancy.amd_waves(CHIPS["gfx942"], n) for n in (0, 64, 65, 128, 512)] == [8, 8, 7, 4, 1]
    assert [occupancy.amd_waves(CHIPS["gfx1100"], n) for n in (96, 97, 256)] == [16, 12, 5]
