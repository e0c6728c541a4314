"""Occupancy by LLVM's rules, against figures worked out by hand."""

from __future__ import annotations

import pytest
from kengine_hip.chips import CHIPS
from kengine_hip.occupancy import occupancy, refusal, waves_by_registers

GFX942, GFX950, GFX1100 = CHIPS["gfx942"], CHIPS["gfx950"], CHIPS["gfx1100"]


@pytest.mark.parametrize(
    ("vector", "waves"), [(1, 8), (64, 8), (65, 7), (72, 7), (73, 6), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2),
                          (257, 1), (512, 1), (513, 0)]
)  # fmt: skip
def test_waves_by_vector_registers(vector, waves) -> None:
    assert waves_by_registers(GFX942, vector, 16) == waves


@pytest.mark.parametrize(("vector", "waves"), [(1, 16), (96, 16), (97, 12), (120, 12), (192, 8), (256, 5)])
def test_waves_of_32_lanes(vector, waves) -> None:
    assert waves_by_registers(GFX1100, vector, 106) == waves


def test_scalar_registers_limit_before_gfx10_only() -> None:
    assert waves_by_registers(GFX942, 16, 100) == 8
    assert waves_by_registers(GFX942, 16, 102) == 7
    assert waves_by_registers(GFX1100, 16, 106) == 16


@pytest.mark.parametrize(
    ("chip", "shared", "threads", "share"),
    [
        (GFX942, 0, 256, 1.0),
        (GFX942, 16 << 10, 256, 0.5),  # four groups of four waves on four units of eight
        (GFX942, 64 << 10, 64, 1 / 32),
        (GFX950, 16 << 10, 256, 1.0),  # nine or ten groups: more than the eight that fill it
        (GFX1100, 64 << 10, 1024, 0.5),
    ],
)
def test_local_memory(chip, shared, threads, share) -> None:
    assert occupancy(chip, 16, 16, shared, threads) == pytest.approx(share)


def test_what_cannot_run() -> None:
    assert occupancy(GFX942, 16, 16, (64 << 10) + 1, 64) is None
    assert occupancy(GFX942, 600, 16, 0, 64) is None
    assert refusal(GFX942, 256, 257, 0) == "257 threads in a block; the kernel was compiled for at most 256"
    assert refusal(GFX942, 1024, 64, 65536) == ""
