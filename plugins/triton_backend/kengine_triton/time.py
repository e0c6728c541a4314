"""Timing a candidate on the device."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.errors import CandidateFault
from kengine.model import Artifact, CaseView, Mode, Timing, TimingPlan
from kengine.plugins.hooks import Inputs

from kengine_triton import faults, observe
from kengine_triton.session import session_of


def time_candidate(artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Time `plan.calls` calls of the wrapper, rotating over `inputs`. Nanoseconds of device time.

    Raises CandidateFault for what the candidate raises, and for targets that cannot be timed.
    """
    from kengine.device.rapid import call_in_a_row
    from kengine.device.timing import time_calls

    session = session_of(artifact.target)
    if session.chip is not None:
        raise CandidateFault("unsupported", f"{artifact.target} has no device here and cannot be timed")
    with observe.observing(Mode.normal):
        try:
            calls = [session.bind(one) for one in inputs]
            timing = time_calls(calls, plan)
            if not case.writes:
                call_in_a_row(calls)
            return timing
        except Exception as error:
            raise faults.classify(error, session.candidate, str(artifact.target)) from error
