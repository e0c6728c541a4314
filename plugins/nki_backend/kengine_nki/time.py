"""Timing a candidate on a Neuron device, by the profiler of the Neuron tools. Never run on hardware."""

from __future__ import annotations

from collections.abc import Sequence

from kengine.errors import CandidateFault
from kengine.model import Artifact, Mode, Timing, TimingPlan
from kengine.plugins.hooks import Inputs

from kengine_nki.session import session_of


def time_candidate(artifact: Artifact, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Call the candidate on each of `inputs`, then take `plan.calls` device times of what it launched, nanoseconds.

    Raises CandidateFault for what the candidate raises, and for targets that cannot be timed.
    """
    from kengine_nki.vendor.device import Chip, profile

    session = session_of(artifact.target)
    chip = session.platform
    if not isinstance(chip, Chip):
        raise CandidateFault("unsupported", f"{artifact.target} is a simulator and has no time of its own")
    launched = 0
    for one in inputs:
        launched = len(session.call(one, Mode.normal).launches)
    neffs = list(chip.neffs.values())
    for _ in range(plan.warmup):
        profile(neffs, chip.workdir)
    samples = tuple(max(1, profile(neffs, chip.workdir)) for _ in range(plan.calls))
    return Timing(samples, "activity", launched * plan.calls)
