"""The hooks of the CUDA backend; imports neither torch nor CuPy."""

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
    "CUDA C++ (as a torch extension through load_inline)",
    native=".cu",
    hints=(r"__global__", r"\bload_inline\b", r"\bRawKernel\b"),
    adding=frozenset({"wgmma"}),
)


@hookimpl
def kengine_targets() -> Sequence[TargetInfo]:
    """The emulator, chips to compile for, and the local device."""
    from kengine_cuda.targets import list_targets

    return list_targets()


@hookimpl
def kengine_lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Rules for CUDA candidates."""
    from kengine_cuda.lint import lint

    return lint(candidate, task, target)


@hookimpl
def kengine_warm(target: Target) -> bool:
    """Import torch, build the emulator's parts or load the compiler, compile one small kernel."""
    from kengine_cuda.warm import warm_up

    return warm_up(target)


@hookimpl
def kengine_open(target: Target) -> bool:
    """Open the device's context and launch one small kernel."""
    from kengine_cuda.warm import open_device

    return open_device(target)


@hookimpl
def kengine_compile(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Compile the candidate for the emulator, or exactly what it launches for a chip."""
    from kengine_cuda.compile import compile_candidate

    return compile_candidate(candidate, task, target, samples, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the candidate once on the emulator or the device."""
    from kengine_cuda.launch import launch_candidate

    return launch_candidate(artifact, case, inputs, mode)


@hookimpl
def kengine_time(artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Time calls of the candidate on the device."""
    from kengine_cuda.time import time_candidate

    return time_candidate(artifact, case, inputs, plan)
