"""Which targets there are, and what each can do on this machine; drivers are only touched in a child process."""

from __future__ import annotations

import importlib.util
import re
from importlib import metadata
from pathlib import Path
from typing import Any

from kengine.model import Capability, Target, TargetInfo
from kengine.plugins.probe import probe

from kengine_triton.chips import CHIPS, EMULATED, Chip, find

BACKEND = "triton"
INTERPRET = Target(BACKEND, "interpret")
_MODULES = ("triton", "torch", "numpy")
_PRELOAD = ("torch", "triton", "triton.language")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

# The driver's C interface answers in milliseconds, importing torch takes seconds.
_LOOK = """
import ctypes, json
found = {}
try:
    cuda = ctypes.CDLL("libcuda.so.1")
    count = ctypes.c_int()
    code = cuda.cuInit(0)
    if code == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value:
        device, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        cuda.cuDeviceGet(ctypes.byref(device), 0)
        cuda.cuDeviceGetAttribute(ctypes.byref(major), 75, device)
        cuda.cuDeviceGetAttribute(ctypes.byref(minor), 76, device)
        name = ctypes.create_string_buffer(100)
        cuda.cuDeviceGetName(name, 100, device)
        found = {"arch": "sm_%d%d" % (major.value, minor.value), "name": name.value.decode(), "count": count.value}
except OSError:
    pass
print(json.dumps(found))
"""


def list_targets() -> tuple[TargetInfo, ...]:
    """The interpreter, every chip of the table, and the local device when it is none of these."""
    missing = _missing()
    versions = {name: version for name in _MODULES if (version := _version(name))}
    local = _local_device()
    arch = str(local.get("arch", ""))
    chips = list(CHIPS.values())
    if arch and arch not in CHIPS and (extra := find(arch)) is not None:
        chips.append(extra)
    return (_interpreter(missing, versions), *(_chip(chip, missing, versions, local) for chip in chips))


def is_local(target: Target) -> bool:
    """Whether a target is the device of this machine."""
    return target.arch == _local_device().get("arch")


def _interpreter(missing: str, versions: dict[str, str]) -> TargetInfo:
    reasons = {"time": "an emulator has no time of its own; time on a device"}
    if missing:
        reasons |= {"compile": missing, "launch": missing}
    return TargetInfo(
        INTERPRET,
        emulated=True,
        capabilities=() if missing else (Capability.compile, Capability.launch),
        reasons=reasons,
        device="cpu",
        environ={"TRITON_INTERPRET": "1", **_ONE_THREAD},
        preload=_PRELOAD,
        companions=(Target(BACKEND, EMULATED.arch),),
        versions=versions,
        note="Triton's interpreter with kengine's mends",
    )


def _chip(chip: Chip, missing: str, versions: dict[str, str], local: dict[str, Any]) -> TargetInfo:
    here = local.get("arch") == chip.arch
    problem = missing or ("" if here else _no_device(chip, local)) or _torch_problem(chip)
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
        preload=_PRELOAD,
        versions=versions,
        note=str(local.get("name", "")) if here else chip.name,
    )


def _no_device(chip: Chip, local: dict[str, Any]) -> str:
    kind = "ROCm" if chip.is_amd else "CUDA"
    found = f"the device here is {local['name']} ({local['arch']})" if local else f"no {kind} device"
    return f"{found}; needs {chip.needs}"


def _missing() -> str:
    for name in ("triton", "torch"):
        if importlib.util.find_spec(name) is None:
            return f"no module {name}: pip install 'kernel-engine[triton]'"
    return ""


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _torch_problem(chip: Chip) -> str:
    """Whether the installed torch can drive this vendor's devices, from its version file: importing it is slow."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return "no module torch: pip install 'kernel-engine[triton]'"
    try:
        text = Path(spec.origin).with_name("version.py").read_text()
    except OSError:
        return ""
    name = "hip" if chip.is_amd else "cuda"
    match = re.search(rf"^{name}\b[^=]*=\s*(\S+)", text, re.MULTILINE)
    if match and match.group(1) == "None":
        kind = "ROCm" if chip.is_amd else "CUDA"
        return f"torch {_version('torch')} is built without {kind}; install a torch for {kind}"
    return ""


def _local_device() -> dict[str, Any]:
    amd = _amd_device()
    if amd:
        return amd
    answer = probe(_LOOK).value
    return answer if isinstance(answer, dict) else {}


def _amd_device() -> dict[str, Any]:
    """The first AMD GPU that the kernel driver lists; `gfx_target_version` 90402 is gfx942 (the last digit is hex)."""
    for path in sorted(Path("/sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
        try:
            match = re.search(r"^gfx_target_version (\d+)$", path.read_text(), re.MULTILINE)
        except OSError:
            continue
        number = int(match.group(1)) if match else 0
        if number:
            major, minor, step = number // 10000, number // 100 % 100, number % 100
            return {"arch": f"gfx{major}{minor:x}{step:x}", "name": f"AMD gfx{major}{minor:x}{step:x}", "count": 1}
    return {}
