"""Launch for the toy: call the entry on numpy views of the inputs, with kernel launches as the mode says."""

from __future__ import annotations

from kengine.array import Array
from kengine.model import Artifact, Mode
from kengine.plugins import Inputs, Outputs
from kengine.runner import entry
from kengine.testing.toy import language
from kengine.testing.toy.compile import BUILDS


def launch_candidate(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the candidate once. Raises CandidateFault (launch_failed, crashed) for whatever it raises."""
    module, view = BUILDS[artifact.build]
    # "traced" asks for every launch in Outputs.launches. The toy lists them in every mode: it costs nothing here.
    with language.session(mode) as launches:
        # as_numpy makes no copies: what the candidate writes into its inputs must be seen.
        value = entry.call_candidate(module, view, inputs, Array.as_numpy)
    return Outputs(value, tuple(launches))
