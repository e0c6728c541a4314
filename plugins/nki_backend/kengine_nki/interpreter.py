"""Candidates on kengine's own interpreter: loading, and one call under a session of it."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from kengine.errors import CandidateFault
from kengine.model import Candidate, JsonValue, Launch, Mode
from kengine.runner import faults as runner_faults
from kengine.runner import source, watch
from kengine.syntax import parse_tree

from kengine_nki import faults, figures, intrusion, sim
from kengine_nki.sim.kernel import Kernel
from kengine_nki.sim.loader import ECOSYSTEM, generations
from kengine_nki.walltime import limited

_KNOCKOUTS = {Mode.noop: "noop", Mode.raises: "raise"}


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What one call gave: its value, the launches that completed, the backend's own figures, and warnings."""

    value: Any
    launches: tuple[Launch, ...]
    details: dict[str, JsonValue]
    warnings: tuple[str, ...] = ()


def load(candidate: Candidate, workdir: Path) -> ModuleType:
    """Execute the candidate's file with the interpreter in the place of the Neuron packages.

    Raises CandidateFault: compile_failed for what the official tools refuse, unsupported for packages that only
    machines with the Neuron SDK have.
    """
    _refuse_mixing(candidate)
    with sim.facade():
        try:
            return source.load(candidate, workdir)
        except CandidateFault as fault:
            cause = fault.__cause__
            if isinstance(cause, ModuleNotFoundError) and _is_neuron_package(cause.name or ""):
                message = f"it imports {cause.name}, which is not part of what the interpreter provides"
                raise CandidateFault("unsupported", message, fault.log, fault.line) from cause
            if isinstance(cause, sim.NkiError):
                raise faults.classify(cause, candidate) from cause
            raise


def call(
    function: Callable[[], Any],
    candidate: Candidate,
    options: sim.Options,
    mode: Mode = Mode.normal,
    strict: bool = False,
    most_s: float | None = None,
) -> Outcome:
    """Call `function` once under a session. Raises CandidateFault for everything that goes wrong in it."""
    with sim.facade(), sim.session(options) as run:
        run.sources |= runner_faults.source_files()
        run.knockout = _KNOCKOUTS.get(mode)
        run.follow = following
        intrusion.forget()
        try:
            with limited(run, most_s):
                value = function()
        except Exception as error:
            intrusion.raise_seen()
            raise faults.swallowed(run, candidate) or faults.classify(error, candidate) from error
    intrusion.raise_seen()
    fault = faults.swallowed(run, candidate) or (faults.strictly(run, candidate) if strict else None)
    if fault is not None:
        raise fault
    launches = tuple(Launch(one.kernel, one.grid) for one in run.launches if one.completed)
    return Outcome(value, launches, figures.describe(run), tuple(figures.warnings(run)))


@contextlib.contextmanager
def following(kernel: str, arguments: list[Any], returned: list[Any]) -> Iterator[None]:
    """Around a launch: where the call is followed, so is what the kernel returns."""
    with watch.kernel(kernel, arguments, returned), intrusion.guarded() if watch.active() else contextlib.nullcontext():
        yield
    returned[:] = map(watch.argument, returned)


def kernels(module: ModuleType) -> list[str]:
    """Names of the kernels that a module holds."""
    return sorted({k.__name__ for k in vars(module).values() if isinstance(k, Kernel)})


def _refuse_mixing(candidate: Candidate) -> None:
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        found = generations(parse_tree(candidate.main.text))
        if len(found) == 2:
            line = max(found.values())
            raise CandidateFault(
                "compile_failed",
                f"it imports both generations, `nki` and `neuronxcc.nki`: use one of them (line {line})",
                line=line,
            )


def _is_neuron_package(name: str) -> bool:
    return name.partition(".")[0] in (*ECOSYSTEM, "nki")
