"""Compile for the toy: execute the candidate's file as a module, find its entry and its kernels.

`kengine.runner` does what every backend for Python needs: it loads the text, finds the entry, and turns whatever the
candidate raises into a CandidateFault with its line.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, KernelResources, Target, TaskView
from kengine.runner import entry, source
from kengine.testing.toy.language import Kernel

BUILDS: dict[str, tuple[ModuleType, TaskView]] = {}
"""What was compiled, by `Artifact.build`: the launch comes later in the same process and gets only the artifact."""


def compile_candidate(candidate: Candidate, task: TaskView, target: Target, workdir: Path) -> Artifact:
    """Load the candidate and return its kernels. Raises CandidateFault (compile_failed, launch_failed, unsupported)."""
    if task.form == "module":
        # An honest "cannot be judged here": it says nothing against the candidate.
        raise CandidateFault("unsupported", "toy:cpu calls functions on numpy arrays, it has no torch modules")
    module = source.load(candidate, workdir)
    entry.find(module, task)
    build = f"toy-{len(BUILDS)}"
    BUILDS[build] = (module, task)
    kernels = [value for value in vars(module).values() if isinstance(value, Kernel)]
    # A compiler would say here what each kernel takes of the chip: registers, spills, shared memory, occupancy.
    return Artifact(target, tuple(KernelResources(kernel.name) for kernel in kernels), build=build)
