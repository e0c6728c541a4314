"""The hooks. This module imports no JAX: it is loaded wherever somebody asks which targets there are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kengine.model import Artifact, Candidate, Mode, Target, TargetInfo, TaskView
from kengine.plugins import Inputs, Outputs, hookimpl

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_targets() -> Sequence[TargetInfo]:
    """See targets.py."""
    from kengine_pallas import targets

    return targets.list_targets()


@hookimpl
def kengine_warm(target: Target) -> bool:
    """Import JAX once, before runners are forked; its own threads start in `kengine_open` only."""
    from kengine_pallas import compile, launch, patch  # noqa: F401

    patch.install()
    return True


@hookimpl
def kengine_open(target: Target) -> bool:
    """Start JAX in a standby runner, and run one kernel: the first takes a second, whatever it computes."""
    from kengine_pallas import launch

    launch.rehearse()
    return True


@hookimpl
def kengine_compile(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """See compile.py."""
    from kengine_pallas import compile

    return compile.compile_candidate(candidate, task, target, samples, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    """See launch.py."""
    from kengine_pallas import launch

    return launch.launch_candidate(artifact, inputs, mode)
