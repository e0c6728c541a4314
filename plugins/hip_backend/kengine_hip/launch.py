"""Calling a candidate once, in one of the four modes, until its results are in memory."""

from __future__ import annotations

from kengine.errors import CandidateFault
from kengine.model import Artifact, CaseView, JsonValue, Mode
from kengine.native.session import session_of
from kengine.plugins.hooks import Inputs, Outputs

from kengine_hip import width


def launch_candidate(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the entry on one case. Raises CandidateFault (launch_failed, timed_out, unsupported, ...)."""
    session = session_of(artifact.target)
    if not session.driver.computes:
        raise CandidateFault("launch_failed", f"{artifact.target} was compiled without a device and cannot launch")
    other = width.prepare(artifact.target, case.index, inputs, mode)
    called = session.call(inputs, mode)
    details: dict[str, JsonValue] = {"launches": sum(one.count for one in called.launches)}
    if called.checked or called.unchecked:
        details |= {"checked_launches": called.checked, "unchecked_launches": called.unchecked}
    if other is not None:
        other.compare(called.value)
    details |= width.summary(artifact.target)
    return Outputs(called.value, called.launches, details)
