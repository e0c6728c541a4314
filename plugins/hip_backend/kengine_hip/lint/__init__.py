"""The HIP rule pack (codes KH1xx): what the device text of a candidate shows."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.lint.runner import run
from kengine.model import Candidate, Finding, Target, Task

from kengine_hip.lint.rules import RULES

__all__ = ["RULES", "lint"]


def lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Findings of all rules of the pack; nothing is executed. A rule that breaks leaves one warning."""
    return run(candidate, task, target, RULES).findings
