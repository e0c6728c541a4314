"""What a source becomes before it is built for the emulator with torch's own headers."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from kengine.extension.full import _for_emulator


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("auto h = x.to(torch::kCPU);", "auto h = x.to(at::TensorOptions(), true, true);"),
        ("x . to( at::Device(at::kCPU) )", "x .to(at::TensorOptions(), true, true)"),
        ("x.to(kCPU, torch::kFloat)", "x.to(at::TensorOptions().dtype(torch::kFloat), true, true)"),
        ("x.type().is_cuda() && y.to(c10::kCPU)", "x.is_cuda() && y.to(at::TensorOptions(), true, true)"),
    ],
)
def test_copies_to_the_host_are_made(given: str, made: str) -> None:
    assert _for_emulator(given) == made


@pytest.mark.parametrize(
    "text",
    [
        "x.to(torch::kCUDA)",
        "x.to(torch::kFloat)",
        "// x.to(torch::kCPU)\n",
        'f("x.to(torch::kCPU)")',
        "x.to(y.device())",
    ],
)
def test_the_rest_stays(text: str) -> None:
    assert _for_emulator(text) == text
