"""Launch for the toy: call the entry on numpy views of the inputs, with kernel launches as the mode says."""

from __future__ import annotations

import traceback
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Artifact, Mode
from kengine.plugins import Inputs, Outputs
from kengine.testing.toy import language
from kengine.testing.toy.compile import ENTRIES, FILES, find_line


def launch_candidate(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the candidate once. Raises CandidateFault (launch_failed) for whatever it raises."""
    entry = ENTRIES[artifact.build]
    arguments = [_view(a) for a in (*inputs.args, *inputs.destination)]
    # "traced" asks for every launch in Outputs.launches. The toy lists them in every mode: it costs nothing here.
    with language.session(mode) as launches:
        try:
            value = entry(*arguments)
        except Exception as error:
            line = find_line(error, FILES[artifact.build])
            message = f"line {line}: {type(error).__name__}: {error}"
            raise CandidateFault("launch_failed", message, traceback.format_exc(), line) from None
    return Outputs(value, tuple(launches))


def _view(value: Any) -> Any:
    """Arrays as numpy, in place and without a copy: what the candidate writes into its inputs must be seen."""
    if isinstance(value, Array):
        return value.as_numpy()
    if isinstance(value, (list, tuple)):
        return type(value)(_view(v) for v in value)
    if isinstance(value, dict):
        return {k: _view(v) for k, v in value.items()}
    return value
