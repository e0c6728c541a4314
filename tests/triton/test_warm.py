"""What a zygote has imported, no fork of it imports."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from triton_candidates import matmul

A = torch.zeros((256, 256), dtype=torch.float16)


@pytest.mark.parametrize("target, modes", [("interpret", ("normal", "noop")), ("sm_90", ()), ("gfx942", ())])
def test_a_runner_imports_its_candidate_and_nothing_else(judge: Any, target: str, modes: tuple[str, ...]) -> None:
    answer = judge(f"triton:{target}", matmul(64, 64, 32), [A, A], modes=modes)
    assert answer.artifact.target.arch == target
    assert " ".join(answer.reply["imported"]) == "kernel"
