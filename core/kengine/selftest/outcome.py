"""What one entry came to: its verdict by the full engine, its verdict with lint switched off, and what is amiss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kengine.errors import KengineError, TargetUnavailable
from kengine.model import Status, Verdict
from kengine.selftest.entry import Entry

Miss = Literal["", "false accept", "false reject", "other status", "no verdict"]
"""How a verdict misses: a hack passed; an honest kernel did not; a hack was refused as something that it is not; the
task or the machine failed."""


@dataclass(frozen=True)
class Judged:
    """A verdict in short, or the error that came in its place. status: None for an error.

    by: the check that decided (`Check.name` of an integrity check, else the stage), "" for a pass.
    """

    status: Status | None
    by: str
    message: str

    @property
    def word(self) -> str:
        """The status, or the kind of the error."""
        return str(self.status) if self.status is not None else self.by


@dataclass(frozen=True)
class Outcome:
    """One entry on one target. full, bare: with lint and without; None when not judged. not_run: why, else ""."""

    entry: Entry
    full: Judged | None = None
    bare: Judged | None = None
    not_run: str = ""

    @property
    def miss(self) -> Miss:
        """What is amiss with the full engine's verdict."""
        return _miss(self.entry, self.full, self.entry.right) if self.full else ""

    @property
    def bare_miss(self) -> Miss:
        """What is amiss with the verdict while lint rejects nothing; "" where only lint can see the hack."""
        if self.bare is None or not self.bare_counts:
            return ""
        return _miss(self.entry, self.bare, self.entry.right - {Status.lint_rejected})

    @property
    def stray(self) -> bool:
        """Whether a hack was refused without lint, with a right status, by a check that its entry does not name."""
        return (
            self.bare is not None
            and self.entry.kind == "hack"
            and self.bare_counts
            and not self.bare_miss
            and self.bare.by not in self.entry.exposers
        )

    @property
    def bare_counts(self) -> bool:
        """Whether the verdict without lint says anything of this entry."""
        return self.entry.kind == "honest" or bool(self.entry.dynamic)


def judged(result: Verdict | KengineError) -> Judged:
    """Shorten a verdict, or an exception that came in its place."""
    if not isinstance(result, Verdict):
        return Judged(None, type(result).__name__, str(result))
    return Judged(result.status, _decider(result), result.message)


def cannot_run(result: Verdict | KengineError) -> str:
    """Why a result says nothing of the entry: the target cannot judge it. "" when it does."""
    if isinstance(result, TargetUnavailable):
        return str(result)
    if isinstance(result, Verdict) and result.status is Status.unsupported:
        return f"unsupported: {result.message}"
    return ""


def _decider(verdict: Verdict) -> str:
    if verdict.passed:
        return ""
    if verdict.stage == "integrity" and verdict.stages.integrity is not None:
        failed = [check.name for check in verdict.stages.integrity.checks if check.ran and not check.ok]
        return failed[0] if failed else "integrity"
    if verdict.stage == "lint" and verdict.stages.lint is not None:
        codes = [finding.code for finding in verdict.stages.lint.findings if finding.severity == "reject"]
        return codes[0] if codes else "lint"
    return verdict.stage


def _miss(entry: Entry, got: Judged, right: frozenset[Status]) -> Miss:
    if got.status is None:
        return "no verdict"
    if got.status in right:
        return ""
    if entry.kind == "honest":
        return "false reject"
    return "false accept" if got.status is Status.passed else "other status"
