"""Lint: what the text of a candidate shows. Nothing is executed, and a candidate cannot switch a rule off."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from kengine.lint.rule import Context, Hit, Rule, hit, is_selected
from kengine.lint.runner import hear, keep_selected, run

if TYPE_CHECKING:
    from kengine.model import Candidate, LintRecord, Target, Task
    from kengine.plugins.backend import Backend

__all__ = ["Context", "Hit", "Rule", "check", "hit", "run"]


def check(
    candidate: Candidate,
    task: Task,
    target: Target,
    backend: Backend | None = None,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> LintRecord:
    """Run the core's rules, then those of the backend and its packs; rejections come first in the record.

    Counted are all rules that looked, those of plugins as far as `run` has them look.
    select, ignore: codes or their beginnings, from the command line or the plan, never from the candidate.
    """
    from kengine.lint.rules import RULES

    chosen, left_out = tuple(select), tuple(ignore)
    record = run(candidate, task, target, RULES, chosen, left_out)
    if backend is None:
        return record
    with hear() as heard:
        more = backend.lint(candidate, task, target)
    found = [*record.findings, *keep_selected(more, chosen, left_out)]
    found.sort(key=lambda f: f.severity != "reject")
    rules = record.rules + sum(is_selected(code, chosen, left_out) for code in heard.fitting)
    return replace(record, findings=tuple(found), rules=rules)
