"""The Triton rule pack (codes KT1xx): what the text of a candidate shows about its kernels and their launches."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.lint.runner import run
from kengine.model import Candidate, Finding, Target, Task

from kengine_triton.lint.rules import RULES

__all__ = ["RULES", "lint"]


def lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Findings of all rules of the pack; nothing is executed, and Triton is not imported."""
    return run(candidate, task, target, RULES).findings
