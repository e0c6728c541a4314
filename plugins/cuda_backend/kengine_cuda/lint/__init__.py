"""The CUDA rule pack (codes KC1xx): what the text of a candidate shows about its kernels and their launches."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.lint.runner import run
from kengine.model import Candidate, Finding, Target, Task

from kengine_cuda.lint.rules import RULES

__all__ = ["RULES", "lint"]


def lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Findings of all rules of the pack; nothing is executed or compiled."""
    return run(candidate, task, target, RULES).findings
