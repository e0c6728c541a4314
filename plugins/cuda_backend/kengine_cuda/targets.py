"""Which targets there are, and what each can do on this machine; drivers are only touched in a child process."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from kengine.errors import TargetUnavailable
from kengine.model import Capability, Target, TargetInfo
from kengine.native.cache import VARIABLE, shared_folder
from kengine.plugins.probe import probe

from kengine_cuda.chips import CHIPS, EMULATED, Chip, find
from kengine_cuda.toolchain.places import find_places

BACKEND = "cuda"
CPU = Target(BACKEND, "cpu")
_DISTRIBUTIONS = ("torch", "numpy", "nvidia-cuda-nvrtc", "cupy-cuda13x", "cupy-cuda12x")
_PRELOAD = ("torch", "numpy")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

_LOOK = """
import ctypes, json
found = {}
try:
    cuda = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int()
    if cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value:
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        cuda.cuDeviceGet(ctypes.byref(device), 0)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        name = ctypes.create_string_buffer(100)
        cuda.cuDeviceGetName(name, 100, device)
        found = {"capability": [major.value, minor.value], "name": name.value.decode(), "count": count.value}
except OSError:
    pass
print(json.dumps(found))
"""


def list_targets() -> tuple[TargetInfo, ...]:
    """The emulator, every chip of the table, and the local device when it is none of these."""
    versions = {name: version for name in _DISTRIBUTIONS if (version := _version(name))}
    answer = probe(_LOOK).value
    local: dict[str, Any] = answer if isinstance(answer, dict) else {}
    chips = list(CHIPS.values())
    if local:
        arch = "sm_{}{}".format(*local["capability"])
        if arch not in CHIPS and (extra := find(arch)) is not None:
            chips.append(extra)
    return (_emulator(versions), *(_chip(chip, versions, local) for chip in chips))


def _emulator(versions: dict[str, str]) -> TargetInfo:
    from kengine.simt.toolchain import choice

    problem = _missing_torch() or _missing_compiler()
    reasons = {"time": "an emulator has no time of its own; time on a device"}
    if problem:
        reasons |= {"compile": problem, "launch": problem}
    no_chips = find_places().problem
    companions = () if no_chips else (Target(BACKEND, EMULATED.arch),)
    return TargetInfo(
        CPU,
        emulated=True,
        capabilities=() if problem else (Capability.compile, Capability.launch),
        reasons=reasons,
        device="cpu",
        environ={**_ONE_THREAD, VARIABLE: str(shared_folder()), **choice()},
        preload=_PRELOAD,
        companions=companions,
        versions=versions,
        note="kengine's SIMT emulator, 32 lanes" + (f"; not compiled for chips: {no_chips}" if no_chips else ""),
    )


def _chip(chip: Chip, versions: dict[str, str], local: dict[str, Any]) -> TargetInfo:
    from kengine.simt.toolchain import choice

    here = bool(local) and tuple(local["capability"]) == chip.capability
    no_compiler = _missing_torch() or find_places().problem
    problem = no_compiler or ("" if here else _no_device(chip, local)) or _torch_problem()
    capabilities: list[Capability] = [] if no_compiler else [Capability.compile]
    reasons: dict[str, str] = {"compile": no_compiler} if no_compiler else {}
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
        environ={**_ONE_THREAD, **choice(), **({} if problem else {VARIABLE: str(shared_folder())})},
        preload=_PRELOAD,
        versions=versions,
        note=str(local.get("name", "")) if here else chip.name,
    )


def _missing_torch() -> str:
    return "" if importlib.util.find_spec("torch") else "no module torch: pip install 'kernel-engine[cuda]'"


def _missing_compiler() -> str:
    from kengine.simt.toolchain import find_compiler

    try:
        find_compiler()
    except TargetUnavailable as error:
        return str(error)
    return ""


def _no_device(chip: Chip, local: dict[str, Any]) -> str:
    if not local:
        return f"no CUDA device; needs {chip.needs}"
    arch = "sm_" + "".join(map(str, local["capability"]))
    return f"the device here is {local['name']} ({arch}); needs {chip.needs}"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _torch_problem() -> str:
    """Whether the installed torch can drive a CUDA device, from its version file: importing it is slow."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return _missing_torch()
    try:
        text = Path(spec.origin).with_name("version.py").read_text()
    except OSError:
        return ""
    match = re.search(r"^cuda\b[^=]*=\s*(\S+)", text, re.MULTILINE)
    if match and match.group(1) == "None":
        return f"torch {_version('torch')} is built without CUDA; install a torch for CUDA"
    return ""
