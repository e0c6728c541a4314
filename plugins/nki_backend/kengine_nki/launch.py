"""Calling a candidate once, in one of the four modes, until its results are in memory."""

from __future__ import annotations

from kengine.model import Artifact, Mode
from kengine.plugins.hooks import Inputs, Outputs

from kengine_nki.session import session_of


def launch_candidate(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the entry on one case. Raises CandidateFault (compile_failed, launch_failed, timed_out, unsupported, ...).

    A kernel is compiled for the shapes that it is given, so that a case whose shapes were not tried while compiling may
    still be refused as compile_failed.
    """
    outcome = session_of(artifact.target).call(inputs, mode)
    return Outputs(outcome.value, outcome.launches, outcome.details)
