"""The hooks of the toy backend. This file imports no toolchain: it is loaded only to be asked what there is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kengine.model import Artifact, Candidate, Mode, Target, TargetInfo, TaskView
from kengine.plugins import Inputs, Outputs, hookimpl

KENGINE_SPEC = (1, 0)


@hookimpl
def kengine_targets() -> Sequence[TargetInfo]:
    """See targets.py."""
    from kengine.testing.toy import targets

    return targets.find_targets()


@hookimpl
def kengine_warm(target: Target) -> bool:
    """Import what every runner needs, once, before runners are forked."""
    import numpy  # noqa: F401

    from kengine.testing.toy import compile, launch  # noqa: F401

    return True


@hookimpl
def kengine_compile(candidate: Candidate, task: TaskView, target: Target, workdir: Path) -> Artifact:
    """See compile.py. The parameter `samples` is left out: the toy compiles the same whatever the inputs are."""
    from kengine.testing.toy import compile

    return compile.compile_candidate(candidate, task, target, workdir)


@hookimpl
def kengine_launch(artifact: Artifact, inputs: Inputs, mode: Mode) -> Outputs:
    """See launch.py."""
    from kengine.testing.toy import launch

    return launch.launch_candidate(artifact, inputs, mode)
