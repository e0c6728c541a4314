"""Compiling a candidate: for the emulator, for a chip that is not here, or for the local device."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kengine.errors import CandidateFault
from kengine.model import Artifact, Candidate, KernelResources, Mode, Target, TaskView
from kengine.native import definitions
from kengine.native.observe import LaunchRefused
from kengine.native.session import Session, open_session
from kengine.native.unrun import NotRun
from kengine.plugins.hooks import Inputs

from kengine_cuda.chips import EMULATED, Chip, find

CERTAIN = ("compile_failed", "unsupported")


def compile_candidate(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Compile for `cuda:cpu`, for a chip that is not here, or for the local device.

    Raises CandidateFault: compile_failed (import, compiler), launch_failed, unsupported.
    """
    if target.arch == "cpu":
        return _for_emulator(candidate, view, target, samples, workdir)
    # The emulator, whose runners import this anew for every candidate, needs none of these.
    from kengine_cuda.toolchain.nvrtc import keeping
    from kengine_cuda.toolchain.places import find_places

    chip = find(target.arch)
    if chip is None:
        raise CandidateFault("unsupported", f"kengine knows no chip {target.arch!r}")
    with keeping(find_places().nvrtc):  # before the candidate is loaded: what it does reaches no compiler
        if _on_device(samples):
            return _for_device(candidate, view, target, chip, samples, workdir)
        return _for_chip(candidate, view, target, chip, samples, workdir)


def _for_device(
    candidate: Candidate, view: TaskView, target: Target, chip: Chip, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    from kengine_cuda import resources
    from kengine_cuda.device import Device

    device = Device(chip, candidate, workdir)
    session = open_session(candidate, view, target, device, workdir, samples)
    if samples:
        session.call(samples[0], Mode.normal)
    details = definitions.describe(device.texts, device.extensions, session.mapped, workdir, device.generated)
    kernels = resources.describe(device.binaries, device.seen, chip)
    return Artifact(target, kernels, log=_log(device.binaries), details=details)


def _for_chip(
    candidate: Candidate, view: TaskView, target: Target, chip: Chip, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    from kengine_cuda import resources
    from kengine_cuda.recorder import Recorder

    recorder = Recorder(chip, candidate, workdir)
    session = open_session(candidate, view, target, recorder, workdir, samples)
    notes = list(dict.fromkeys(note for sample in samples if (note := _record(session, sample))))
    if not recorder.binaries:
        notes.append("no kernel was compiled: the candidate gave no source")
    kernels = resources.describe(recorder.binaries, recorder.seen, chip)
    return Artifact(target, kernels, log=_log(recorder.binaries), note="; ".join(notes))


def _for_emulator(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    from kengine.native.ahead import compiling
    from kengine.native.cupy.kernels import generated_names
    from kengine.native.emulator import Emulator
    from kengine.simt import DeviceLimits

    limits = DeviceLimits.of(EMULATED.arch)
    driver = Emulator(
        "cuda", limits, EMULATED.figures, candidate, workdir, check=view.sanitize, timeout_s=view.timeout_s,
        explain=_explain,
    )  # fmt: skip
    with compiling(driver):
        session = open_session(candidate, view, target, driver, workdir, samples)
    found = [KernelResources(name, shared_bytes=m.static_shared(name)) for m in driver.modules for name in m.kernels()]
    for extension in driver.extensions:
        kernels = extension.program.kernels.values() if extension.program else ()
        headers = {"headers": extension.path}
        found += [KernelResources(k.name, shared_bytes=k.static_shared, details=headers) for k in kernels]
    details = definitions.describe(
        [module.unit.text for module in driver.modules], driver.extensions, session.mapped, workdir, generated_names()
    )
    note = "emulated; compiled for its companion chips beside it"
    return Artifact(target, tuple(found), note=note, details=details)


def _explain(fault: CandidateFault, text: str) -> str:
    """What to add to the emulator's faults: that a text is HIP's."""
    if fault.status not in CERTAIN:
        return ""
    from kengine_cuda.toolchain.compiler import explain_dialect

    return explain_dialect(text, fault.message, fault.line)


def _record(session: Session, sample: Inputs) -> str:
    """Call the candidate with launches that do nothing; "" or a note on what could not be seen. Raises
    CandidateFault."""
    try:
        session.call(sample, Mode.normal)
    except CandidateFault as fault:
        seen = sum(item.threads > 0 for item in session.driver.seen.values())  # type: ignore[attr-defined]
        cause = fault.__cause__
        if isinstance(cause, NotRun):
            return "functions of the extension were not run: what they launch was compiled, its blocks are not known"
        if fault.status in CERTAIN or cause is None or isinstance(cause, LaunchRefused) or not seen:
            raise
        return (
            f"the candidate raised {type(cause).__name__} after launches whose results are not computed here; "
            "what it launches after that was not seen"
        )
    return ""


def _log(binaries: Sequence[object]) -> str:
    return "\n".join(str(getattr(binary, "log", "")).strip() for binary in binaries)


def _on_device(samples: Sequence[Inputs]) -> bool:
    from kengine.runner.arena import arrays

    found = (a for s in samples for a in arrays([s.args, s.init_args, dict(s.state), s.destination]))
    return any(getattr(array.memory, "is_cuda", False) for array in found)
