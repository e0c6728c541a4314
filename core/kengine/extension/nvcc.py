"""Device units by nvcc, with the light headers."""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kengine.errors import TargetUnavailable

# What torch passes to nvcc: candidates are written against these.
STOCK_FLAGS = (
    "-D__CUDA_NO_HALF_OPERATORS__",
    "-D__CUDA_NO_HALF_CONVERSIONS__",
    "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
    "-D__CUDA_NO_HALF2_OPERATORS__",
    "--expt-relaxed-constexpr",
)


@dataclass(frozen=True)
class Toolkit:
    """The compiler of device code, its headers and its libraries."""

    nvcc: Path
    include: Path
    library: Path


@functools.lru_cache(maxsize=1)
def find_toolkit() -> Toolkit:
    """The CUDA toolkit of CUDA_HOME, of the PATH, or of /usr/local/cuda. TargetUnavailable if there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    found = shutil.which("nvcc")
    tried = [Path(home) / "bin" / "nvcc"] if home else []
    tried += [Path(found).resolve()] if found else []
    tried.append(Path("/usr/local/cuda/bin/nvcc"))
    for nvcc in tried:
        root = nvcc.resolve().parent.parent
        include = next((p for p in (root / "include", root / "targets/x86_64-linux/include") if p.is_dir()), None)
        if nvcc.exists() and include is not None:
            library = next((p for p in (root / "lib64", root / "lib", root / "targets/x86_64-linux/lib") if p.is_dir()), root)
            return Toolkit(nvcc, include, library)
    raise TargetUnavailable(f"no nvcc found (looked for {', '.join(map(str, tried))}); install the CUDA toolkit or set CUDA_HOME")


def device_command(toolkit: Toolkit, arch: str, candidate_flags: Sequence[str], include: Sequence[str]) -> list[str]:
    """nvcc with the candidate's flags; its choice of architecture and language wins, as it does with torch."""
    own_arch = any("arch" in f or "-gencode" in f for f in candidate_flags)
    own_language = any(f.startswith(("-std", "--std")) for f in candidate_flags)
    return [str(toolkit.nvcc), *STOCK_FLAGS, *([] if own_arch else [f"-arch={arch}"]), *([] if own_language else ["-std=c++17"]),
            "-Xcompiler", "-fPIC,-fvisibility=hidden", "-w", *include, *candidate_flags]  # fmt: skip
