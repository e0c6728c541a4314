"""Calling a candidate once, in one of the four modes, until its results are in memory."""

from __future__ import annotations

from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Artifact, CaseView, Mode
from kengine.native.session import session_of
from kengine.plugins.hooks import Inputs, Outputs


def launch_candidate(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the entry on one case. Raises CandidateFault (compile_failed, launch_failed, timed_out, unsupported)."""
    session = session_of(artifact.target)
    if not session.driver.computes:
        raise CandidateFault("launch_failed", f"{artifact.target} was compiled without a device and cannot launch")
    called = session.call(inputs, mode)
    details: dict[str, Any] = {"launches": sum(launch.count for launch in called.launches)}
    if artifact.target.arch == "cpu":
        details |= {"checked": called.checked, "unchecked": called.unchecked}
    return Outputs(called.value, called.launches, details)
