"""The CUDA rule pack (codes KC1xx): what the text of a candidate shows about its kernels and their launches."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from kengine.lint.rule import Context, make_finding
from kengine.lint.runner import run
from kengine.lint.source import SourceTree
from kengine.model import Candidate, Finding, Target, Task

from kengine_cuda.lint.rules import RULES

__all__ = ["RULES", "lint"]


def lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Findings of all rules of the pack; nothing is executed or compiled."""
    if candidate.language == "python":
        return run(candidate, task, target, RULES).findings
    source = SourceTree(candidate.main.text, ast.Module([], []), candidate.main.path)
    context = Context(task, target)
    rules = [rule for rule in RULES if candidate.language in rule.languages]
    return [make_finding(rule, hit, source.path) for rule in rules for hit in rule.check(source, context)]
