"""Compile: execute the candidate's file, trace its entry on the shapes of the samples, and lower it for a chip."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, KernelResources, Target, TaskView
from kengine.plugins import Inputs
from kengine.runner import entry, source

from kengine_pallas import arrays, faults, patch
from kengine_pallas.targets import PLATFORMS

BUILDS: dict[str, tuple[ModuleType, TaskView]] = {}
"""What was loaded, by `Artifact.build`: the launch comes later in the same process and gets only the artifact."""


def compile_candidate(
    candidate: Candidate, task: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Load and trace a candidate. Raises CandidateFault (compile_failed, launch_failed, unsupported)."""
    if task.form == "module":
        raise CandidateFault("unsupported", "pallas judges functions on arrays; this task wants a torch module")
    jax.config.update("jax_enable_x64", arrays.are_wide(samples))
    module = source.load(candidate, workdir)
    entry.find(module, task)
    platform = PLATFORMS.get(target, "")
    names: dict[str, None] = {}
    details: dict[str, Any] = {}
    for inputs in samples:
        call = entry.bind(module, task, inputs, arrays.to_jax)
        with patch.tracing(lowering=bool(platform)) as (traced, refused):
            nbytes = _lower(call, platform) if platform else _trace(call, refused)
        names.update(dict.fromkeys(traced))
        if platform:
            details["lowered_bytes"] = max(nbytes, details.get("lowered_bytes", 0))
    build = f"pallas-{len(BUILDS)}"
    BUILDS[build] = (module, task)
    note = f"lowered for {platform} by JAX {jax.__version__}" if platform else ""
    return Artifact(target, tuple(map(KernelResources, names)), build=build, note=note, details=details)


def _trace(call: entry.Call, refused: Sequence[Exception]) -> int:
    """Trace for the interpreter, which is where Pallas refuses a kernel.

    What the code around it raises may be due to the tracing alone, for it may look at values: its launch will tell.
    """
    function, given = _of_arrays(call)
    try:
        jax.eval_shape(function, *given)
    except Exception:
        if refused:
            raise faults.explain(refused[0], "compile_failed", "tracing a kernel") from refused[0]
    return 0


def _lower(call: entry.Call, platform: str) -> int:
    """Lower for a chip, and say how large what came out is."""
    function, given = _of_arrays(call)
    try:
        exported = jax.export.export(jax.jit(function), platforms=[platform])(*given)
    except Exception as error:
        raise faults.explain(error, "compile_failed", f"lowering for {platform}") from error
    return len(exported.mlir_module_serialized)


def _of_arrays(call: entry.Call) -> tuple[Callable[..., Any], list[Any]]:
    """The call as a function of its arrays alone: numbers and strings are what they are when a kernel is compiled."""
    leaves, form = jax.tree_util.tree_flatten(call.arguments)
    places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]

    def function(*given: Any) -> Any:
        mixed = list(leaves)
        for place, value in zip(places, given):
            mixed[place] = value
        return call.function(*jax.tree_util.tree_unflatten(form, mixed))

    return function, [leaves[n] for n in places]
