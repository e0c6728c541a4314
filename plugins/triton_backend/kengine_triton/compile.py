"""Compiling a candidate: the interpreter loads it, a chip compiles what its wrapper launches, a device runs it once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, JsonValue, KernelResources, Mode, Target, TaskView
from kengine.native import libraries
from kengine.plugins.hooks import Inputs
from kengine.runner import definitions

from kengine_triton import assembler, choices, faults, interpretation, observe, resources
from kengine_triton.chips import EMULATED, Chip, find
from kengine_triton.lint.kernels import FORM
from kengine_triton.session import Session, open_session


def compile_candidate(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Compile for `triton:interpret`, for a chip that is not here, or for the local device.

    Raises CandidateFault: compile_failed (import, compiler, resources), launch_failed, unsupported.
    """
    if target.arch == "interpret":
        return _load_interpreted(candidate, view, target, workdir)
    chip = find(target.arch)
    if chip is None:
        raise CandidateFault("unsupported", f"kengine knows no chip {target.arch!r}")
    interpretation.hold(False)
    observe.install_compiled()
    assembler.install()
    if _on_device(samples) and _local_arch() == target.arch:
        session = open_session(candidate, view, target, None, workdir)
        return _run(session, chip, samples[:1], workdir, device=True)
    if chip.is_amd:
        from kengine_triton.record import linker

        linker.do_without()
    session = open_session(candidate, view, target, chip, workdir)
    return _run(session, chip, samples, workdir, device=False)


def _load_interpreted(candidate: Candidate, view: TaskView, target: Target, workdir: Path) -> Artifact:
    from kengine_triton import interpret

    interpret.install()
    interpretation.hold(True)
    observe.install_interpreted()
    faults.forget()
    session = open_session(candidate, view, target, EMULATED, workdir)
    fault = faults.pending(candidate)
    if fault is not None:
        raise fault
    details = _held(session, workdir)
    return Artifact(target, note="interpreted; compiled for its companion chips beside it", details=details)


def _held(session: Session, workdir: Path) -> dict[str, JsonValue]:
    """Kernels that the candidate defines for host code, and libraries and operators that it leans on."""
    names, operators = libraries.describe(session.mapped, workdir)
    defined = definitions.find_kernels(session.candidate, FORM, returns=False)
    return {"defined": defined, "libraries": tuple(sorted(names)), "operators": tuple(sorted(operators))}


def _run(session: Session, chip: Chip, samples: Sequence[Inputs], workdir: Path, device: bool) -> Artifact:
    """Call the wrapper on each sample and describe the kernels that it launched."""
    candidate, target = session.candidate, session.target
    notes: list[str] = []
    with observe.observing(Mode.normal) as seen:
        for sample in samples:
            try:
                session.call(sample)
                if device:
                    _synchronise()
            except Exception as error:
                note = None if device else _excuse(error, seen)
                if note is None:
                    raise faults.classify(error, candidate, str(target)) from error
                if note not in notes:
                    notes.append(note)
    fault = faults.pending(candidate)
    if fault is not None:
        raise fault
    kernels = list(seen.kernels.values())
    if seen.errors:
        fault = faults.classify(seen.errors[0], candidate, str(target))
        if not kernels:
            raise fault from seen.errors[0]
        notes.append(f"the wrapper swallowed: {fault.message}")
    if not kernels:
        notes.append("the wrapper launched no kernel")
    described = [resources.describe(kernel, chip, loaded=device) for kernel in kernels]
    found = tuple(record for record, _ in described)
    details: dict[str, JsonValue] = {"launches": tuple(_launch_text(seen)), **_held(session, workdir)}
    details["choices"] = choices.summary()
    return Artifact(target, _distinct(found), log="\n".join(log for _, log in described if log),
                    note="; ".join(notes), details=details)  # fmt: skip


def _excuse(error: Exception, seen: observe.Observation) -> str | None:
    """Why an exception may be the fault of results that a recording does not compute; None when it may not."""
    launched = sum(launch.count for launch in seen.launches)
    cause = error.__cause__ if isinstance(error, CandidateFault) else error
    if not launched or not isinstance(cause, Exception) or faults.is_certain(error):
        return None
    return (
        f"the wrapper raised {type(cause).__name__} after {launched} launches whose results are not computed here; "
        "what it launches after that was not compiled"
    )


def _launch_text(seen: observe.Observation) -> list[str]:
    return [f"{launch.kernel}{list(launch.grid)} x{launch.count}" for launch in seen.launches[:50]]


def _distinct(records: tuple[KernelResources, ...]) -> tuple[KernelResources, ...]:
    kept: list[KernelResources] = []
    for record in records:
        if record not in kept:
            kept.append(record)
    return tuple(kept)


def _arrays(value: Any) -> list[Array]:
    if isinstance(value, Array):
        return [value]
    if isinstance(value, (list, tuple)):
        return [a for item in value for a in _arrays(item)]
    if isinstance(value, dict):
        return [a for item in value.values() for a in _arrays(item)]
    return []


def _on_device(samples: Sequence[Inputs]) -> bool:
    for sample in samples:
        for array in _arrays([sample.args, sample.init_args, dict(sample.state), sample.destination]):
            if getattr(array.memory, "is_cuda", False):
                return True
    return False


def _local_arch() -> str:
    import torch

    if not torch.cuda.is_available():
        return ""
    if torch.version.hip:
        return str(torch.cuda.get_device_properties(0).gcnArchName).partition(":")[0]
    major, minor = torch.cuda.get_device_capability(0)
    return f"sm_{major}{minor}"


def _synchronise() -> None:
    import torch

    torch.cuda.synchronize()
