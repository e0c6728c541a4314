"""Which targets there are, and what each can do on this machine; drivers are only touched in a child process."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from kengine.model import Capability, Target, TargetInfo
from kengine.native.cache import VARIABLE, shared_folder
from kengine.plugins.probe import probe

from kengine_hip import toolchain
from kengine_hip.chips import CHIPS, EMULATED, NARROW, Chip

BACKEND = "hip"
CPU = Target(BACKEND, "cpu")
NARROW_CPU = Target(BACKEND, f"cpu-{NARROW.arch}")
EMULATORS = {CPU.arch: EMULATED, NARROW_CPU.arch: NARROW}
"""Emulator targets: the chip whose wavefronts and limits each has."""

_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_MODULES = ("torch", "numpy", "ziglang", "msgpack", "pyelftools", "triton", "iree-base-compiler", "cupy")
_INSTALL = "pip install 'kernel-engine[hip]'"

# The runtime's C interface; loaded in a child of its own, since an old one may abort the process.
_LOOK = """
import ctypes, json
found = {}
try:
    hip = ctypes.CDLL("libamdhip64.so")
    count = ctypes.c_int()
    if hip.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value:
        found = {"count": count.value}
except OSError:
    pass
print(json.dumps(found))
"""


def list_targets() -> tuple[TargetInfo, ...]:
    """The emulator with wavefronts of 64 and of 32 lanes, and every chip of the table."""
    versions = {name: version for name in _MODULES if (version := _version(name))}
    local = _local_device()
    problem = toolchain.missing() or _module_missing()
    emulators = [_emulator(name, chip, versions, not problem) for name, chip in EMULATORS.items()]
    return (*emulators, *(_chip(chip, problem, versions, local) for chip in CHIPS.values()))


def _emulator(name: str, chip: Chip, versions: dict[str, str], compiles: bool) -> TargetInfo:
    from kengine.simt.toolchain import choice

    missing = _module_missing() or _host_compiler_missing()
    reasons = {"time": "an emulator has no time of its own; time on a device"}
    if missing:
        reasons |= {"compile": missing, "launch": missing}
    return TargetInfo(
        Target(BACKEND, name),
        emulated=True,
        capabilities=() if missing else (Capability.compile, Capability.launch),
        reasons=reasons,
        device="cpu",
        environ={**_ONE_THREAD, VARIABLE: str(shared_folder()), **choice()},
        preload=("torch", "numpy"),
        companions=(Target(BACKEND, chip.arch),) if compiles else (),
        versions=versions,
        note=f"SIMT emulator, wavefronts of {chip.lanes} lanes as on {chip.arch}",
    )


def _chip(chip: Chip, missing: str, versions: dict[str, str], local: dict[str, Any]) -> TargetInfo:
    here = local.get("arch") == chip.arch
    problem = missing or ("" if here else _no_device(chip, local)) or _no_framework()
    capabilities: list[Capability] = [] if missing else [Capability.compile]
    reasons: dict[str, str] = {"compile": missing} if missing else {}
    if problem:
        reasons |= {"launch": problem, "time": problem}
    else:
        capabilities += [Capability.launch, Capability.time]
    return TargetInfo(
        Target(BACKEND, chip.arch),
        emulated=False,
        capabilities=tuple(capabilities),
        reasons=reasons,
        device="cpu" if problem else "cuda",
        environ=_ONE_THREAD,
        preload=("torch", "numpy"),
        versions=versions,
        note=str(local.get("name", "")) if here else chip.name,
    )


def _no_device(chip: Chip, local: dict[str, Any]) -> str:
    found = f"the AMD device here is {local['arch']}" if local.get("arch") else "no AMD device"
    return f"{found}; needs {chip.name} or another {chip.arch}"


def _no_framework() -> str:
    """What is missing for launching on an AMD device: torch built for ROCm (its version file says so)."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return "no module torch: install torch for ROCm"
    try:
        text = Path(spec.origin).with_name("version.py").read_text()
    except OSError:
        return ""
    match = re.search(r"^hip\b[^=]*=\s*(\S+)", text, re.MULTILINE)
    if match is None or match.group(1) == "None":
        return f"torch {_version('torch')} is built without ROCm; install torch for ROCm"
    return ""


def _module_missing() -> str:
    for name in ("torch", "numpy"):
        if importlib.util.find_spec(name) is None:
            return f"no module {name}: {_INSTALL}"
    return ""


def _host_compiler_missing() -> str:
    """What is missing for the emulator, which compiles kernels for the CPU. Looks for files only."""
    from kengine.simt.fault import CompilerMissing
    from kengine.simt.toolchain import choice, locate_compiler

    try:
        locate_compiler()
    except CompilerMissing as error:
        return str(error) if choice() else f"no C++ compiler: install g++ or clang++, or {_INSTALL}"
    return ""


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _local_device() -> dict[str, Any]:
    """The first AMD GPU that the kernel driver lists and the runtime can use."""
    for path in sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        try:
            match = re.search(r"^gfx_target_version (\d+)$", path.read_text(), re.MULTILINE)
        except OSError:
            continue
        number = int(match.group(1)) if match else 0
        if number:
            answer = probe(_LOOK).value
            if not isinstance(answer, dict) or not answer.get("count"):
                return {}
            # 90402 is gfx942, 90010 is gfx90a: the stepping is hexadecimal.
            arch = f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"
            return {"arch": arch, "name": f"AMD {arch}"}
    return {}
