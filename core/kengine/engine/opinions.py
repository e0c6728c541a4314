"""Opinions on the text of candidates that passed everything else, where the plan asks for them."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from kengine.errors import CandidateFault, UsageError
from kengine.model import Check, IntegrityRecord

if TYPE_CHECKING:
    from kengine.config import Plan
    from kengine.engine.job import Job
    from kengine.plugins.backend import Backend

NAME = "opinion"
"""Name of the check in an integrity record."""


def require(plan: Plan, backend: Backend) -> None:
    """Raise UsageError when a plan asks for opinions and nobody here can give one."""
    if plan.opinion is None:
        return
    if not backend.judges():
        raise UsageError(
            "the plan asks for an opinion, and no plugin here gives one: unset KENGINE_NO_PLUGINS, or reinstall "
            "kernel-engine, which ships the plugin 'opinion'"
        )
    if plan.opinion.url and find_spec("httpx") is None:
        raise UsageError("an opinion needs httpx, which is not installed: pip install 'kernel-engine[opinion]'")


def add(job: Job) -> None:
    """Ask about a candidate that has not failed, and add the check to its integrity record.

    With severity `reject` a doubt makes the candidate a sham; no opinion never does.
    """
    if job.failed:
        return
    check = ask(job)
    if check is None:
        return
    record = job.stages.integrity or IntegrityRecord()
    job.record(integrity=replace(record, checks=(*record.checks, check)))
    if check.failed:
        job.fail("integrity", CandidateFault("sham", f"{check.name}: {check.evidence}"))


def ask(job: Job) -> Check | None:
    """The check of one candidate, None when the plan asks for no opinion.

    It has run when at least one judge has an opinion, and does not hold when one of them doubts.
    """
    settings = job.plan.opinion
    if settings is None:
        return None
    lint, launch = job.stages.lint, job.stages.launch
    with job.stage(NAME):
        said = job.backend.judge(
            job.candidate, job.task, lint.findings if lint else (), launch.launches if launch else (), settings
        )
    voices = [o for o in said if o.genuine is not None]
    if not voices:
        reasons = "; ".join(_quote(o.by, o.reason) for o in said) or "no judge has one"
        return Check(NAME, False, True, f"no opinion: {reasons}", settings.severity)
    doubts = [o for o in voices if not o.genuine]
    evidence = "; ".join(_quote(o.by, o.reason) for o in doubts or voices)
    word = "not genuine" if doubts else "genuine"
    return Check(NAME, True, not doubts, f"{word}: {evidence}", settings.severity)


def _quote(by: str, reason: str) -> str:
    return f"{by}: {reason}" if by else reason
