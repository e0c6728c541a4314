"""The hooks of the NKI backend; imports neither numpy nor torch nor any package of the Neuron SDK."""

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
    "NKI",
    entry="one function decorated with `nki.jit`",
    marks=(r"\bnki\.jit\b|neuronxcc\.nki|^import nki\b|^from nki\b",),
    called=frozenset({"nki.jit", "neuronxcc.nki.jit"}),
    libraries=frozenset({"nki", "neuronxcc"}),
    adding=frozenset({
        "nc_matmul", "nc_matmul_mx", "tensor_reduce", "tensor_partition_reduce", "tensor_scalar_reduce",
        "activation_reduce", "tensor_tensor_scan", "tensor_scalar_cumulative", "bn_stats", "bn_aggr",
    }),
)  # fmt: skip


@hookimpl
def kengine_targets() -> Sequence[TargetInfo]:
    """The interpreter, the vendor's simulator, and the chips to compile for."""
    from kengine_nki.targets import list_targets

    return list_targets()


@hookimpl
def kengine_lint(candidate: Candidate, task: Task, target: Target) -> Sequence[Finding]:
    """Rules for NKI candidates."""
    from kengine_nki.lint import lint

    return lint(candidate, task, target)


@hookimpl
def kengine_warm(target: Target) -> bool:
    """Import numpy and the interpreter, and run one small kernel of each generation."""
    from kengine_nki.warm import warm_up

    return warm_up(target)


@hookimpl
def kengine_compile(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Load the candidate and try it on each shape, or compile what it launches to a NEFF."""
    from kengine_nki.compile import compile_candidate

    return compile_candidate(candidate, task, target, samples, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, case: CaseView, inputs: Inputs, mode: Mode) -> Outputs:
    """Call the candidate once on the interpreter, the vendor's simulator or the device."""
    from kengine_nki.launch import launch_candidate

    return launch_candidate(artifact, inputs, mode)


@hookimpl
def kengine_time(artifact: Artifact, case: CaseView, inputs: Sequence[Inputs], plan: TimingPlan) -> Timing:
    """Time calls of the candidate on a Neuron device."""
    from kengine_nki.time import time_candidate

    return time_candidate(artifact, inputs, plan)
