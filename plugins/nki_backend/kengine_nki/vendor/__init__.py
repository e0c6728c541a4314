"""The packages of the Neuron SDK: their simulator, their compiler, a device. Never run on hardware while written.

Everything here is as thin as the call forms that AWS documents allow, and tested against a recorded double of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, KernelResources, Mode, Target, TaskView
from kengine.plugins.hooks import Inputs
from kengine.runner import entry

from kengine_nki.session import Session, remember


def compile_candidate(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Load the candidate with the real packages; for a chip also compile what it launches on the first sample.

    Raises CandidateFault (compile_failed, unsupported).
    """
    from kengine_nki.vendor.device import Chip
    from kengine_nki.vendor.kernels import load
    from kengine_nki.vendor.simulator import Simulator

    platform = Simulator(candidate) if target.arch == "neuron-sim" else Chip(candidate, target.arch, workdir)
    session = Session(candidate, view, target, load(candidate, workdir), platform)
    entry.find(session.module, view)
    remember(session)
    if isinstance(platform, Simulator):
        return Artifact(target, note="run by the simulator of the Neuron SDK")
    if not samples:
        raise CandidateFault("unsupported", f"{target} compiles what is launched, and there are no inputs for that")
    neffs = platform.compile(lambda: session.call(samples[0], Mode.normal))
    kernels = tuple(KernelResources(name, details={"neff_bytes": size}) for name, size in neffs.items())
    return Artifact(target, kernels, note="" if kernels else "the candidate launched no kernel")
