"""RMSNorm as one-row, blocked and multi-row kernels, and the ways in which it goes wrong."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from triton_candidates import BLOCKED, MULTI_ROW, ONE_ROW


def inputs(rows: int, columns: int, dtype: torch.dtype) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(rows * 1000 + columns)
    return [
        torch.randn(rows, columns, generator=generator).to(dtype),
        torch.randn(columns, generator=generator).to(dtype),
    ]


def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    x, w = x.double(), w.double()
    return x * (x.pow(2).mean(-1, keepdim=True) + 1e-6).rsqrt() * w


@pytest.mark.parametrize("source", [ONE_ROW, BLOCKED, MULTI_ROW], ids=["one-row", "blocked", "multi-row"])
@pytest.mark.parametrize("columns", [128, 200, 77])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_is_right(judge: Any, source: str, columns: int, dtype: torch.dtype) -> None:
    x, w = inputs(6, columns, dtype)
    answer = judge.interpret(source, x, w)
    expected = reference(x, w)
    assert answer.value.dtype == dtype
    tolerance = {torch.float16: 2**-10, torch.bfloat16: 2**-7, torch.float32: 2**-21}[dtype]
    assert ((answer.value.double() - expected).abs() <= tolerance * expected.abs() + 1e-12).all()
    assert [(launch.kernel, launch.count) for launch in answer.launches] == [("rms", 1)]


@pytest.mark.parametrize("source", [ONE_ROW, BLOCKED, MULTI_ROW], ids=["one-row", "blocked", "multi-row"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "gfx942"])
def test_compiles(judge: Any, source: str, arch: str) -> None:
    answer = judge.compile(arch, source, *inputs(6, 77, torch.float16))
    (kernel,) = answer.artifact.kernels
    assert kernel.name == "rms"
    assert 8 <= kernel.registers <= 255
    assert kernel.spills == 0
    assert 0 < kernel.occupancy <= 1
    assert answer.artifact.note == ""


def test_missing_constexpr_is_refused_by_the_compiler(judge: Any) -> None:
    source = ONE_ROW.replace("BLOCK: tl.constexpr", "BLOCK")
    answer = judge.compile("sm_90", source, *inputs(4, 64, torch.float16))
    assert answer.status == "compile_failed"
    assert "constexpr" in answer.message
    assert answer.line == 3 + source.splitlines().index("    cols = tl.arange(0, BLOCK)") + 1


def test_missing_constexpr_is_refused_by_the_interpreter(judge: Any) -> None:
    source = ONE_ROW.replace("BLOCK: tl.constexpr", "BLOCK")
    answer = judge.interpret(source, *inputs(4, 64, torch.float16))
    assert answer.status == "compile_failed"
    assert "constexpr" in answer.message
    assert answer.line == 3 + source.splitlines().index("    cols = tl.arange(0, BLOCK)") + 1


def test_mean_subtracted_is_wrong(judge: Any) -> None:
    source = ONE_ROW.replace("    scale =", "    x = tl.where(mask, x - tl.sum(x, axis=0) / N, 0.0)\n    scale =")
    x, w = inputs(6, 200, torch.float16)
    answer = judge.interpret(source, x, w)
    error = (answer.value.double() - reference(x, w)).abs().max()
    assert error > 0.05


def test_float16_accumulation_stops_growing(judge: Any) -> None:
    """Sums of 1 added in float16 stay at 2048; the honest kernel reaches 2560."""
    source = BLOCKED.replace("other=0.0).to(tl.float32)\n        acc", "other=0.0)\n        acc")
    source = source.replace("acc = 0.0", "acc = tl.zeros((1,), tl.float16)")
    source = source.replace("acc / N + eps", "acc.to(tl.float32) / N + eps").replace("BLOCK=64", "BLOCK=16")
    x, w = torch.full((1, 16 * 2560), 0.25, dtype=torch.float16), torch.ones(16 * 2560, dtype=torch.float16)
    answer = judge.interpret(source, x, w)
    honest = judge.interpret(BLOCKED.replace("BLOCK=64", "BLOCK=1024"), x, w)
    assert honest.value.unique().tolist() == [1.0]
    assert answer.value.unique().tolist() == [torch.tensor(1.25**0.5, dtype=torch.float16).item()]


def test_float16_sum_of_a_long_row_overflows(judge: Any) -> None:
    source = ONE_ROW.replace("other=0.0).to(tl.float32)\n    scale", "other=0.0)\n    scale")
    source = source.replace("tl.sum(x * x, axis=0) / N", "tl.sum(x * x, axis=0).to(tl.float32) / N")
    x, w = torch.full((1, 8192), 3.0, dtype=torch.float16), torch.ones(8192, dtype=torch.float16)
    assert judge.interpret(ONE_ROW, x, w).value.unique().tolist() == [1.0]
    assert judge.interpret(source, x, w).value.unique().tolist() == [0.0]


def test_modes(judge: Any) -> None:
    x, w = inputs(6, 200, torch.float32)
    noop = judge.interpret(ONE_ROW, x, w, modes=("noop",))
    assert noop.value.isnan().all()
    assert noop.launches == ()
    refused = judge.interpret(ONE_ROW, x, w, modes=("raise",))
    assert refused.status == "launch_failed"
    assert "launch of kernel 'rms' was refused" in refused.message
    traced = judge.interpret(ONE_ROW, x, w, modes=("traced",))
    assert [(launch.kernel, launch.grid) for launch in traced.launches] == [("rms", (6,))]


def test_sham_is_seen_by_a_launch_that_does_nothing(judge: Any) -> None:
    source = (
        ONE_ROW
        + """
def sham(x, w):
    scratch = candidate(x, w)
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w
"""
    )
    x, w = inputs(6, 200, torch.float32)
    normal = judge.interpret(source, x, w, entry="sham")
    noop = judge.interpret(source, x, w, entry="sham", modes=("noop",))
    assert [launch.kernel for launch in normal.launches] == ["rms"]
    assert torch.equal(normal.value, noop.value)
    assert not normal.value.isnan().any()
