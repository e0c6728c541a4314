"""The hooks of the Triton backend; imports neither triton nor torch."""

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
    "Triton",
    marks=(r"\btriton\.jit\b",),
    hints=(r"^import triton\b|^from triton\b",),
    fences=("gluon",),
    launched=frozenset({"triton.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit"}),
    libraries=frozenset({"triton"}),
    settings=frozenset({"triton.knobs"}),
    helpers=frozenset({"triton.cdiv", "triton.next_power_of_2", "triton.testing", "triton.Config"}),
    shims=frozenset({"triton.language"}),
    hooks=frozenset({
        "triton.knobs.runtime.launch_enter_hook", "triton.knobs.runtime.launch_exit_hook",
        "triton.compiler.CompiledKernel.launch_enter_hook", "triton.compiler.CompiledKernel.launch_exit_hook",
    }),
    clocks=frozenset({"triton.testing"}),
    timers=frozenset({"triton.testing.do_bench"}),
    adding=frozenset({
        "dot_scaled", "associative_scan", "warpgroup_mma", "mma_v2", "tcgen05_mma", "tcgen05_mma_scaled", "mfma",
        "mfma_scaled", "wmma", "wmma_scaled",
    }),
)  # fmt: skip


@hookimpl
def kengine_targets() -> Sequence[TargetInfo]:
    """The interpreter, chips to compile for, and the local device."""
    from kengine_triton.targets import list_targets

    return list_targets()


@hookimpl
def kengine_lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Rules for Triton candidates."""
    from kengine_triton.lint import lint

    return lint(candidate, task, target)


@hookimpl
def kengine_warm(target: Target) -> bool:
    """Import torch and Triton, compile or interpret one small kernel."""
    from kengine_triton.warm import warm_up

    return warm_up(target)


@hookimpl
def kengine_open(target: Target) -> bool:
    """Open the device's context and launch one small kernel."""
    from kengine_triton.warm import open_device

    return open_device(target)


@hookimpl
def kengine_compile(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Load the candidate for the interpreter, or compile exactly what its wrapper launches."""
    from kengine_triton.compile import compile_candidate

    return compile_candidate(candidate, task, target, samples, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the wrapper once on the interpreter or the device."""
    from kengine_triton.launch import launch_candidate

    return launch_candidate(artifact, case, inputs, mode)


@hookimpl
def kengine_time(artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Time calls of the wrapper on the device."""
    from kengine_triton.time import time_candidate

    return time_candidate(artifact, case, inputs, plan)
