"""The HIP rule pack (codes KH1xx): what the device text of a candidate shows."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.lint.rule import Context
from kengine.lint.runner import MAX_FINDINGS, RULE_FAILED
from kengine.model import Candidate, Finding, Target, Task

from kengine_hip.lint.rules import RULES
from kengine_hip.lint.text import DeviceText, TextRule, find_texts

__all__ = ["RULES", "lint"]


def lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Findings of all rules of the pack; nothing is executed. A rule that breaks leaves one warning."""
    context = Context(task, target)
    found: list[Finding] = []
    for text in find_texts(candidate):
        for rule in RULES:
            found += _apply(rule, text, context)
    order = {"reject": 0, "warn": 1}
    return tuple(sorted(found, key=lambda f: (order[f.severity], f.path, f.line, f.code)))


def _apply(rule: TextRule, text: DeviceText, context: Context) -> list[Finding]:
    try:
        hits = sorted({(h.line, h.message): h for h in rule.check(text, context)}.items())
    except Exception as error:  # a rule meets hostile text; its own failure is not the candidate's
        problem = f"rule {rule.code} failed on this text ({type(error).__name__}: {error}); it found nothing"
        return [Finding(RULE_FAILED, "warn", problem, text.path)]
    return [
        Finding(rule.code, hit.severity or rule.severity, hit.message, text.path, hit.line)
        for _, hit in hits[:MAX_FINDINGS]
    ]
