"""Compile for the toy: execute the candidate's file as a module, find its entry and its kernels.

`kengine.runner` does what every backend for Python needs: it loads the text, finds the entry, and turns whatever the
candidate raises into a CandidateFault with its line.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from kengine.errors import CandidateFault
from kengine.lint.launch import KernelForm
from kengine.model import Artifact, Candidate, KernelResources, Target, TaskView
from kengine.runner import definitions, entry, source
from kengine.testing.toy.language import Kernel

FORM = KernelForm(makers=frozenset({"kengine.testing.toy.kernel", "kengine.testing.toy.language.kernel"}))
"""How the toy writes kernels: `@toy.kernel`, and `kernel[grid](...)` to launch."""

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
    # Which kernels there are for host code, so that those that are launched can be held against them.
    defined = definitions.find_kernels(candidate, FORM, returns=False)
    return Artifact(
        target, tuple(KernelResources(kernel.name) for kernel in kernels), build=build, details={"defined": defined}
    )
