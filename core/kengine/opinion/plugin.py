"""The hook of the judge of the text; imports no client of HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kengine.model import Candidate, Finding, Launch, Opinion, Task
from kengine.plugins.hooks import hookimpl

if TYPE_CHECKING:
    from kengine.config import OpinionSettings

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_judge(
    candidate: Candidate,
    task: Task,
    findings: Sequence[Finding],
    launches: Sequence[Sequence[Launch]],
    settings: OpinionSettings,
) -> Opinion | None:
    """The opinion of the endpoint; None without one."""
    if not settings.url:
        return None
    from kengine.opinion import endpoint, question

    try:
        messages = question.build(candidate, task, findings, launches)
    except question.TooMuch as error:
        return Opinion(None, str(error), settings.model)
    return endpoint.ask(messages, settings)
