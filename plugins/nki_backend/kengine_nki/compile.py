"""Compiling a candidate: the interpreter loads and tries it, the Neuron compiler makes NEFFs of what it launches."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

from kengine.array import Array, span
from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, JsonValue, KernelResources, Mode, Target, TaskView
from kengine.native import libraries
from kengine.plugins.hooks import Inputs
from kengine.runner import definitions, entry
from kengine.runner.arena import arrays

from kengine_nki.lint.kernels import FORM
from kengine_nki.session import Session, remember

TRIAL_S = 3.0
"""Seconds for the trials of a candidate; as much again for the one in reverse order."""


def compile_candidate(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Compile for `nki:sim`, the vendor's simulator or a chip.

    Raises CandidateFault: compile_failed (import, names, shapes, limits), unsupported.
    """
    if target.arch == "sim":
        return _interpret(candidate, view, target, samples, workdir)
    from kengine_nki import vendor

    return vendor.compile_candidate(candidate, view, target, samples, workdir)


def _interpret(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    from kengine_nki import interpreter, settings

    asked = settings.read(candidate)
    mapped = libraries.mapped()
    module = interpreter.load(candidate, workdir)
    entry.find(module, view)
    if not interpreter.kernels(module) and not _speaks_of_nki(candidate):
        raise CandidateFault(
            "compile_failed", "it holds no NKI kernel: none of its files imports nki or neuronxcc.nki; "
            "define one with @nki.jit and call it from the entry",
        )  # fmt: skip
    session = Session(candidate, view, target, module, Interpreted(candidate, asked.options), mapped)
    remember(session)
    names, operators = libraries.describe(mapped, workdir)
    held: dict[str, JsonValue] = {
        "defined": definitions.find_kernels(candidate, FORM),
        "libraries": tuple(sorted(names)),
        "operators": tuple(sorted(operators)),
    }
    if not samples:
        kernels = tuple(KernelResources(name) for name in interpreter.kernels(module))
        return Artifact(target, kernels, note=f"interpreted for {asked.options.chip}", details=held)
    artifact = _try(session, asked, samples)
    return replace(artifact, details={**artifact.details, **held})


@dataclass(frozen=True)
class Interpreted:
    """The interpreter as a platform, with the options of one candidate."""

    candidate: Candidate
    options: Any

    def call(self, function: Callable[[], Any], mode: Mode, most_s: float | None = None) -> Any:
        """Call once under a session of the interpreter."""
        from kengine_nki import interpreter

        return interpreter.call(function, self.candidate, self.options, mode, self.options.strict, most_s)


def _try(session: Session, asked: Any, samples: Sequence[Inputs]) -> Artifact:
    """Run the candidate once on copies of a sample of each shape, as the official compiler would trace it.

    Only a refusal is raised here; what goes wrong while it runs is for the launch to say. The smallest sample is run
    once more with independent iterations backwards. That is advice: a difference is noted.
    """
    from kengine_nki import interpreter, sim

    until = time.monotonic() + TRIAL_S
    platform = Interpreted(session.candidate, asked.options)
    tried: list[tuple[Inputs, Any]] = []
    ended = ""
    for sample in _one_of_each_shape(samples):
        left = until - time.monotonic()
        if left <= 0 or ended == "timed_out":
            break
        try:
            tried.append((sample, platform.call(partial(_call, session, sample), Mode.normal, left)))
        except CandidateFault as fault:
            if fault.status in ("compile_failed", "unsupported"):
                raise
            ended = fault.status
    notes = [f"interpreted for {asked.options.chip}", *([f"a trial ended in {ended}"] if ended else [])]
    if not tried:
        kernels = tuple(KernelResources(name) for name in interpreter.kernels(session.module))
        return Artifact(session.target, kernels, note="; ".join(notes))
    sample, first = tried[0]
    races: list[str] = []
    if asked.reverse_ranges and _has_order(session.candidate, first.launches):
        turned = replace(platform, options=replace(asked.options, reverse_ranges=True))
        try:
            second = turned.call(partial(_call, session, sample), Mode.normal, TRIAL_S)
            races = [str(race) for race in sim.find_races(first.value, second.value)[:3]]
        except CandidateFault as fault:
            if fault.status != "timed_out":
                races = [f"race: in reverse order of independent iterations it ends in {fault.status}: {fault.message}"]
    advice = {"race": "; ".join(races).removeprefix("race: ")} if races else {}
    names = list(dict.fromkeys(launch.kernel for launch in first.launches))
    # Figures are those of the call; they are a kernel's own where there is but one.
    own = first.details if len(names) == 1 else {k: v for k, v in first.details.items() if k == "warnings"}
    kernels = tuple(KernelResources(name, details={} if n else {**own, **advice}) for n, name in enumerate(names))
    note = "; ".join([*notes, *first.warnings, *races])
    return Artifact(session.target, kernels, note=note, details={**first.details, **advice})


def _has_order(candidate: Candidate, launches: Sequence[Any]) -> bool:
    """Whether anything is declared independent: a loop over affine_range, or a grid of several programs."""
    text = any("affine_range" in file.text for file in candidate.files)
    return text or any(prod(launch.grid) > 1 for launch in launches)


def _speaks_of_nki(candidate: Candidate) -> bool:
    return any(re.search(r"\b(nki|neuronxcc|nkilib)\b", file.text) for file in candidate.files)


def _call(session: Session, sample: Inputs) -> Any:
    return session.bind(sample, _copy)()


def _copy(array: Array) -> Any:
    made = array.as_made()
    return made.clone() if array.from_torch else made.copy()


def _one_of_each_shape(samples: Sequence[Inputs]) -> list[Inputs]:
    """A sample of each combination of shapes and types, the smallest first."""
    found: dict[tuple[tuple[str, tuple[int, ...]], ...], tuple[int, Inputs]] = {}
    for sample in samples:
        specs = [a.spec for a in arrays([*sample.args, *sample.init_args, dict(sample.state)])]
        key = tuple((spec.dtype, spec.shape) for spec in specs)
        found.setdefault(key, (sum(span(spec) for spec in specs), sample))
    return [sample for _, sample in sorted(found.values(), key=lambda pair: pair[0])]
