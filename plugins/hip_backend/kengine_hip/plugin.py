"""The hooks of the HIP backend; imports no compiler, no torch and no CuPy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kengine.model import (
    Artifact,
    Candidate,
    CaseView,
    Finding,
    Mode,
    Target,
    TargetInfo,
    Task,
    TaskView,
    Timing,
    TimingPlan,
)
from kengine.plugins.dialect import Dialect
from kengine.plugins.hooks import Inputs, Outputs, hookimpl

KENGINE_SPEC = (1, 0)
KENGINE_DIALECT = Dialect(
    "HIP C++ (as a torch extension through load_inline)",
    native=".hip",
    marks=(r"hipLaunchKernelGGL", r"#include\s*[<\"]hip/", r"HIP_SOURCE"),
)


@hookimpl
def kengine_targets() -> Sequence[TargetInfo]:
    """The emulator with 64 and 32 lanes, and chips to compile for."""
    from kengine_hip.targets import list_targets

    return list_targets()


@hookimpl
def kengine_lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Rules for HIP candidates."""
    from kengine_hip.lint import lint

    return lint(candidate, task, target)


@hookimpl
def kengine_warm(target: Target) -> bool:
    """Import torch; build the emulator's parts, or look for the device compiler."""
    from kengine_hip.warm import warm_up

    return warm_up(target)


@hookimpl
def kengine_open(target: Target) -> bool:
    """Open the device's context, where there is a device."""
    from kengine_hip.warm import open_device

    return open_device(target)


@hookimpl
def kengine_compile(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Compile for the emulator, for a chip that is not here, or for the local device."""
    from kengine_hip.compile import compile_candidate

    return compile_candidate(candidate, task, target, samples, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the candidate once on the emulator or the device."""
    from kengine_hip.launch import launch_candidate

    return launch_candidate(artifact, case, inputs, mode)


@hookimpl
def kengine_time(artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Time calls of the candidate on the device."""
    from kengine_hip.time import time_candidate

    return time_candidate(artifact, case, inputs, plan)
