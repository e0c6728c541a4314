"""Which compiler makes AMD code objects here: a ROCm installation, or clang and device libraries from pip packages.

The pip way needs `ziglang` (a whole clang with the AMDGPU backend and lld in one file) and AMD's device library (ocml,
ockl) as bitcode, which the wheels of `iree-base-compiler` and of `triton` carry. Headers and constants are our own.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from kengine.errors import TargetUnavailable

INCLUDE = Path(__file__).resolve().parent / "include"
VARIABLE = "KENGINE_HIP_TOOLCHAIN"
"""Environment variable that forces one way: `pip` or `rocm`."""

OLDEST_ROCM = 6
"""Major version from which a ROCm installation is preferred: older ones lack names that candidates use."""

_LIBRARIES = (
    ("iree-base-compiler", "iree.compiler", "_mlir_libs/iree_platform_libs/rocm"),
    ("triton", "triton", "backends/amd/lib"),
)
_INSTALL = "pip install 'kernel-engine[hip]'"
_VERSION_SECONDS = 60


@dataclass(frozen=True)
class Toolchain:
    """A way to compile. command: the compiler. libraries: folder of ocml.bc and ockl.bc, None where the compiler knows
    its own. name: for people, with versions."""

    kind: Literal["pip", "rocm"]
    command: tuple[str, ...]
    libraries: Path | None
    name: str

    @property
    def root(self) -> Path:
        """Folder of the compiler (pip: where its headers lie)."""
        return Path(self.command[0]).parent


class ToolchainMissing(TargetUnavailable):
    """Nothing on this machine compiles HIP; the message says what to install."""


@functools.lru_cache(maxsize=1)
def find_toolchain() -> Toolchain:
    """The ROCm installation when there is one that is new enough, else the pip packages, else an older ROCm.

    Raises ToolchainMissing.
    """
    forced = os.environ.get(VARIABLE, "")
    if forced not in ("", "pip", "rocm"):
        raise ToolchainMissing(f"{VARIABLE} is {forced!r}; it may be pip or rocm")
    problem = pip_problem()
    rocm = find_rocm() if forced != "pip" else None
    if rocm is not None:
        version = _rocm_version(rocm)
        if forced == "rocm" or problem or _major(version) >= OLDEST_ROCM:
            return Toolchain("rocm", (rocm,), None, f"hipcc {version or 'of unknown version'} ({rocm})")
    if forced == "rocm":
        raise ToolchainMissing("no hipcc on PATH, in ROCM_PATH or /opt/rocm")
    if problem:
        raise ToolchainMissing(problem)
    return pip_toolchain()


def pip_toolchain() -> Toolchain:
    """The way by pip packages. Raises ToolchainMissing."""
    libraries = find_libraries()
    if libraries is None or _zig() is None:
        raise ToolchainMissing(pip_problem())
    folder, package = libraries
    name = f"clang of ziglang {_version('ziglang')}, device library of {package} {_version(package)}"
    return Toolchain("pip", (str(_zig()), "clang"), folder, name)


def missing() -> str:
    """Why nothing here compiles HIP, "" when something does. Looks at files only, starts nothing."""
    forced = os.environ.get(VARIABLE, "")
    if forced != "pip" and find_rocm() is not None:
        return "" if not reader_problem() else reader_problem()
    return "no hipcc was found" if forced == "rocm" else pip_problem()


def pip_problem() -> str:
    """What is missing for the way by pip packages, "" when nothing is."""
    if _zig() is None:
        return f"no module ziglang (its clang compiles for AMD): {_INSTALL}"
    if find_libraries() is None:
        names = " and ".join(name for name, _, _ in _LIBRARIES)
        return f"AMD's device library (ocml.bc, ockl.bc) was not found; the packages {names} carry it: {_INSTALL}"
    return reader_problem()


def reader_problem() -> str:
    """What is missing for reading code objects."""
    for module, package in (("msgpack", "msgpack"), ("elftools", "pyelftools")):
        if importlib.util.find_spec(module) is None:
            return f"no module {module} (pip: {package}), which reads code objects: {_INSTALL}"
    return ""


def find_libraries() -> tuple[Path, str] | None:
    """Folder of ocml.bc and ockl.bc, and the package that brought them."""
    for package, module, inside in _LIBRARIES:
        place = _package_folder(module)
        folder = place / inside if place else None
        if folder is not None and (folder / "ocml.bc").is_file() and (folder / "ockl.bc").is_file():
            return folder, package
    return None


def find_rocm() -> str | None:
    """Path of hipcc: in ROCM_PATH or HIP_PATH, in /opt/rocm, or on PATH."""
    for root in (os.environ.get("ROCM_PATH"), os.environ.get("HIP_PATH"), "/opt/rocm"):
        if root and os.access(Path(root, "bin", "hipcc"), os.X_OK):
            return str(Path(root, "bin", "hipcc"))
    return shutil.which("hipcc")


def compiler_environment() -> dict[str, str]:
    """The environment of a compiler: without variables that would change what it reads or picks."""
    dropped = ("CPATH", "CPLUS_INCLUDE_PATH", "C_INCLUDE_PATH", "HIPCC_COMPILE_FLAGS_APPEND", "CCC_OVERRIDE_OPTIONS")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    # hipcc takes nvcc where it finds one, unless it is told the platform.
    return {**environment, "HIP_PLATFORM": "amd", "LC_ALL": "C"}


def _zig() -> Path | None:
    place = _package_folder("ziglang")
    binary = place / "zig" if place else None
    return binary if binary is not None and os.access(binary, os.X_OK) else None


def _package_folder(module: str) -> Path | None:
    """Folder of a package, without importing it or its parents."""
    head, _, rest = module.partition(".")
    spec = importlib.util.find_spec(head)
    for root in (spec.submodule_search_locations or ()) if spec is not None else ():
        folder = Path(root, *rest.split(".")) if rest else Path(root)
        if folder.is_dir():
            return folder
    return None


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


@functools.lru_cache(maxsize=4)
def _rocm_version(hipcc: str) -> str:
    try:
        done = subprocess.run([hipcc, "--version"], capture_output=True, text=True, timeout=_VERSION_SECONDS,
                              check=False, env=compiler_environment())  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r"HIP version:\s*(\d[\w.]*)", done.stdout)
    return found.group(1) if found else ""


def _major(version: str) -> int:
    found = re.match(r"\d+", version)
    return int(found.group(0)) if found else 0
