"""Calling a candidate once, in one of the four modes, until its results are in memory."""

from __future__ import annotations

from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Artifact, CaseView, Mode
from kengine.plugins.hooks import Inputs, Outputs

from kengine_triton import choices, faults, observe
from kengine_triton.session import session_of


def launch_candidate(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the entry on one case. Raises CandidateFault (compile_failed, launch_failed, unsupported, crashed)."""
    session = session_of(artifact.target)
    device = session.chip is None
    if not device and artifact.target.arch != "interpret":
        raise CandidateFault("launch_failed", f"{artifact.target} was compiled without a device and cannot launch")
    faults.forget()
    with observe.observing(mode) as seen:
        try:
            value = session.call(inputs)
        except Exception as error:
            noted = faults.pending(session.candidate)
            raise noted or faults.classify(error, session.candidate, str(artifact.target)) from error
    swallowed = faults.pending(session.candidate)
    if swallowed is not None:
        raise swallowed
    return Outputs(value, tuple(seen.launches), _details(seen))


def _details(seen: observe.Observation) -> dict[str, Any]:
    count = sum(launch.count for launch in seen.launches)
    return {"launches": count, "choices": choices.summary()}
