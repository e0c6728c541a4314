"""A backend for the tests of the runner: Python functions on torch tensors, nothing compiled, wall time measured."""

from __future__ import annotations

import time

from kengine.model import Artifact, Capability, Launch, Target, TargetInfo, Timing
from kengine.plugins.hooks import Outputs, hookimpl
from kengine.runner import entry, source

KENGINE_SPEC = (1, 0)
_loaded = {}


@hookimpl
def kengine_targets():
    return [TargetInfo(Target("double", arch), False, tuple(Capability), device=arch) for arch in ("cpu", "cuda")]


@hookimpl
def kengine_open(target):
    if target.arch == "cuda":
        import torch

        torch.ones(4, device="cuda").sum().item()
    return True


@hookimpl
def kengine_compile(candidate, task, target, samples, workdir):
    module = source.load(candidate, workdir)
    entry.find(module, task)
    _loaded.update(module=module, view=task)
    if hasattr(module, "when_compiled"):  # as a backend that has to launch a kernel to compile it
        module.when_compiled()
    return Artifact(target, details={"samples": len(samples)})


@hookimpl
def kengine_launch(artifact, case, inputs, mode):
    value = entry.call_candidate(_loaded["module"], _loaded["view"], inputs)
    return Outputs(value, [Launch("k", (1,)), Launch("k", (1,))], {"mode": mode.value})


@hookimpl
def kengine_time(artifact, case, inputs, plan):
    calls = [entry.bind(_loaded["module"], _loaded["view"], i) for i in inputs]
    samples = []
    for n in range(plan.calls):
        begun = time.perf_counter_ns()
        calls[n % len(calls)]()
        samples.append(time.perf_counter_ns() - begun)
    return Timing(tuple(samples), "wall")
