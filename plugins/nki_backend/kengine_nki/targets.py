"""Which targets there are, and what each can do on this machine."""

from __future__ import annotations

import importlib.util
from importlib import metadata

from kengine.model import Capability, Target, TargetInfo

from kengine_nki import toolchain

BACKEND = "nki"
SIM = Target(BACKEND, "sim")
NEURON_SIM = Target(BACKEND, "neuron-sim")
CHIPS = {"trn1": "AWS Trainium, Inferentia2", "trn2": "AWS Trainium2", "trn3": "AWS Trainium3"}
DEFAULT_CHIP = "trn2"

CHIP_ERROR = 1.46e-5
"""Relative L2 error of matrix products of float32 that was measured on Trainium, where the tensor engine makes several
passes of fewer bits. A simulator multiplies in float32 and does not make it."""

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_NO_TIME = "a simulator has no time of its own; time on a device"


def list_targets() -> tuple[TargetInfo, ...]:
    """The interpreter, the vendor's simulator, and every chip."""
    new, old = toolchain.find_new(), toolchain.find_old()
    device = toolchain.find_device()
    chips = [_chip(chip, new, old, device) for chip in CHIPS]
    beside = [i.target for i in chips if i.target.arch == DEFAULT_CHIP and Capability.compile in i.capabilities]
    return (_interpreter(tuple(beside)), _simulator(new, old), *chips)


def _interpreter(companions: tuple[Target, ...]) -> TargetInfo:
    missing = next((name for name in ("numpy", "ml_dtypes") if importlib.util.find_spec(name) is None), "")
    reasons = {"time": _NO_TIME}
    if missing:
        reasons |= dict.fromkeys(("compile", "launch"), f"no module {missing}: pip install 'kernel-engine[nki]'")
    return TargetInfo(
        SIM,
        emulated=True,
        capabilities=() if missing else (Capability.compile, Capability.launch),
        reasons=reasons,
        environ=_ONE_THREAD,
        # A task that draws with torch needs it in every runner, and importing it takes longer than most verdicts.
        preload=("numpy", "ml_dtypes", *(("torch",) if importlib.util.find_spec("torch") else ())),
        companions=companions,
        versions=_versions("numpy", "ml_dtypes", "torch"),
        note="kengine's own interpreter of NKI",
        chip_error=CHIP_ERROR,
    )


def _simulator(new: toolchain.Package, old: toolchain.Package) -> TargetInfo:
    works = toolchain.can_simulate(new) or old.installed
    problem = new.problem if not new.installed else f"nki {new.version} has no simulator yet: 0.3 or later has"
    return TargetInfo(
        NEURON_SIM,
        emulated=True,
        capabilities=(Capability.compile, Capability.launch) if works else (),
        reasons={"time": _NO_TIME} if works else {"compile": problem, "launch": problem, "time": _NO_TIME},
        environ={**_ONE_THREAD, "NEURON_PLATFORM_TARGET_OVERRIDE": DEFAULT_CHIP, "NKI_PRECISE_FP": "1"},
        preload=("numpy",),
        versions=_versions("nki", "neuronx-cc"),
        note="the simulator of the Neuron SDK",
        chip_error=CHIP_ERROR,
    )


def _chip(chip: str, new: toolchain.Package, old: toolchain.Package, device: str) -> TargetInfo:
    capabilities: list[Capability] = []
    reasons: dict[str, str] = {}
    problem = "" if new.installed or old.installed else new.problem
    if problem:
        reasons["compile"] = problem
    else:
        capabilities.append(Capability.compile)
    if device == chip and not problem:
        capabilities.append(Capability.launch)
    else:
        found = f"the device here is a {device}" if device else "no Neuron device (/dev/neuron0)"
        reasons["launch"] = problem or f"{found}; needs {CHIPS[chip]}"
    if Capability.launch in capabilities and toolchain.find_profiler():
        capabilities.append(Capability.time)
    else:
        reasons["time"] = reasons.get("launch", "no neuron-profile: install the package aws-neuronx-tools")
    return TargetInfo(
        Target(BACKEND, chip),
        emulated=False,
        capabilities=tuple(capabilities),
        reasons=reasons,
        environ=_ONE_THREAD,
        preload=("numpy",),
        versions=_versions("nki", "neuronx-cc"),
        note=CHIPS[chip],
    )


def _versions(*names: str) -> dict[str, str]:
    found = {}
    for name in names:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
