"""Timing a candidate on the device."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.errors import CandidateFault
from kengine.model import Artifact, CaseView, Mode, Timing, TimingPlan
from kengine.native import observe
from kengine.native.session import session_of
from kengine.plugins.hooks import Inputs


def time_candidate(artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Time `plan.calls` calls of the candidate, rotating over `inputs`. Nanoseconds of device time.

    Raises CandidateFault for what the candidate raises, and for targets that cannot be timed.
    """
    from kengine.device.rapid import call_in_a_row
    from kengine.device.timing import time_calls

    session = session_of(artifact.target)
    if session.driver.device != "cuda":
        raise CandidateFault("unsupported", f"{artifact.target} has no device here and cannot be timed")
    with observe.observing(Mode.normal), session.driver.surroundings(lenient=view_is_module(session)):
        calls = [session.bind(one) for one in inputs]
        timing = time_calls(calls, plan)
        if not case.writes:
            call_in_a_row(calls)
        return timing


def view_is_module(session: object) -> bool:
    """Whether the candidate is a module class."""
    return getattr(getattr(session, "view", None), "form", "") == "module"
