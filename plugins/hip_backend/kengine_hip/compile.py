"""Compiling a candidate: over the emulator, for a chip that is not here, or by running it once on the local one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kengine.errors import CandidateFault, TargetUnavailable
from kengine.model import Artifact, Candidate, JsonValue, KernelResources, Mode, Target, TaskView
from kengine.native import definitions
from kengine.native.session import Session, open_session
from kengine.native.unrun import NotRun
from kengine.plugins.hooks import Inputs

from kengine_hip import differences, resources, width
from kengine_hip.chips import Chip, find
from kengine_hip.figures import figures_of
from kengine_hip.offline import Offline
from kengine_hip.targets import EMULATORS
from kengine_hip.toolchain import find_toolchain

MAX_KERNELS = 200
"""Most kernels that an artifact describes."""


def compile_candidate(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Compile for an emulator target, for a chip that is not here, or for the local device.

    Raises CandidateFault: compile_failed (import, compiler, limits), launch_failed, unsupported.
    """
    candidate = as_hip(candidate)
    if target.arch in EMULATORS:
        return _emulated(candidate, view, target, samples, workdir)
    chip = find(target.arch)
    if chip is None:
        raise CandidateFault("unsupported", f"kengine knows no chip {target.arch!r}")
    if _on_device(samples):
        from kengine_hip.device import compile_on_device

        return compile_on_device(candidate, view, target, chip, samples, workdir)
    return _offline(candidate, view, target, chip, samples, workdir)


def as_hip(candidate: Candidate) -> Candidate:
    """The candidate with a CUDA main file taken for HIP: names that both have are compiled as they are."""
    return replace(candidate, language="hip") if candidate.language == "cuda" else candidate


def _emulated(
    candidate: Candidate, view: TaskView, target: Target, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    from kengine.native.ahead import compiling
    from kengine.native.cupy.kernels import generated_names
    from kengine.native.emulator import Emulator
    from kengine.simt import DeviceLimits

    chip = EMULATORS[target.arch]
    driver = Emulator(
        "hip", DeviceLimits.of(chip.arch), figures_of(chip), candidate, workdir, view.sanitize, view.timeout_s,
        differences.explain,
    )  # fmt: skip
    with compiling(driver):
        session = open_session(candidate, view, target, driver, workdir, samples)
    width.remember(candidate, view, target, workdir, samples)
    details = definitions.describe(
        [module.unit.text for module in driver.modules], driver.extensions, session.mapped, workdir, generated_names()
    )
    full = [extension.__name__ for extension in driver.extensions if extension.path == "full"]
    with_torch = f"; built with torch's own headers: {', '.join(full)}" if full else ""
    note = f"emulated with {chip.lanes} lanes, the limits of {chip.arch}{with_torch}"
    return Artifact(target, note=note, details=details)


def _offline(
    candidate: Candidate, view: TaskView, target: Target, chip: Chip, samples: Sequence[Inputs], workdir: Path
) -> Artifact:
    """Call the wrapper on each sample over a driver that only compiles, and describe what was compiled."""
    try:
        toolchain = find_toolchain()
    except TargetUnavailable as error:
        raise CandidateFault("unsupported", str(error)) from None
    driver = Offline(chip, toolchain, candidate, workdir)
    session = open_session(candidate, view, target, driver, workdir, samples)
    launches: list[str] = []
    for sample in samples:
        try:
            called = session.call(sample, Mode.normal)
            launches += [f"{one.kernel}{list(one.grid)} x{one.count}" for one in called.launches]
        except CandidateFault as fault:
            note = _excuse(fault, driver, session)
            if note is None:
                raise
            if note not in driver.notes:
                driver.notes.append(note)
    found, log = describe(driver)
    if not found:
        driver.notes.append("nothing was compiled for the device")
    shown = tuple(dict.fromkeys(launches))[:50]
    details: dict[str, JsonValue] = {"launches": shown, "toolchain": driver.toolchain.name}
    return Artifact(target, found, log=log, note="; ".join(dict.fromkeys(driver.notes)), details=details)


def describe(driver: Offline) -> tuple[tuple[KernelResources, ...], str]:
    """Records and log of every kernel that a driver compiled, each once."""
    records: list[KernelResources] = []
    lines: list[str] = []
    for module in driver.modules:
        for kernel in module.code:
            launches = module.configurations.get(kernel.name, [])
            record = resources.describe(kernel, driver.chip, module.waves.get(kernel.name), launches)
            if record not in records and len(records) < MAX_KERNELS:
                records.append(record)
                lines.append(resources.log_of(kernel))
    return tuple(records), "\n".join(lines)


def _excuse(fault: CandidateFault, driver: Offline, session: Session) -> str | None:
    """Why a fault may come from results that a compile without a device does not compute; None when it may not."""
    if isinstance(fault.__cause__, NotRun):
        return "functions of the extension were not run: what they launch was compiled, its blocks are not known"
    launched = any(module.configurations for module in driver.modules)
    cause = fault.__cause__
    if fault.status != "launch_failed" or not launched or not isinstance(cause, Exception):
        return None
    return (
        f"the wrapper raised {type(cause).__name__} after launches whose results are not computed here; "
        "what it launches after that was not compiled"
    )


def _on_device(samples: Sequence[Inputs]) -> bool:
    from kengine.runner.arena import arrays

    return any(getattr(a.memory, "is_cuda", False) for sample in samples for a in arrays(sample.args))
