"""Device units by nvcc, with the light headers."""

from __future__ import annotations

import functools
import importlib.util
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

    def link_flags(self) -> list[str]:
        """Linker flags for the runtime library, which a pip package ships by its versioned name only."""
        named = sorted(self.library.glob("libcudart.so*"))
        return [f"-L{self.library}", f"-l:{named[0].name}" if named else "-lcudart"]


@functools.lru_cache(maxsize=1)
def find_toolkit() -> Toolkit:
    """The CUDA toolkit of CUDA_HOME, of the PATH, or of /usr/local/cuda. TargetUnavailable if there is none."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    found = shutil.which("nvcc")
    tried = [Path(home) / "bin" / "nvcc"] if home else []
    tried += [Path(found).resolve()] if found else []
    tried.append(Path("/usr/local/cuda/bin/nvcc"))
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        tried += sorted(Path(folder).glob("cu*/bin/nvcc"), reverse=True)
    for nvcc in tried:
        root = nvcc.resolve().parent.parent
        includes = [
            p for p in (root / "include", root / "targets/x86_64-linux/include") if (p / "cuda_runtime.h").exists()
        ]
        libraries = [
            p
            for p in (root / "lib64", root / "lib", root / "targets/x86_64-linux/lib")
            if list(p.glob("libcudart.so*"))
        ]
        if nvcc.exists() and includes and libraries:
            return Toolkit(nvcc, includes[0], libraries[0])
    raise TargetUnavailable(
        f"no nvcc found (looked for {', '.join(map(str, tried))}); install the CUDA toolkit or set CUDA_HOME"
    )


def device_command(
    toolkit: Toolkit, arch: str, candidate_flags: Sequence[str], include: Sequence[str], language: str = "c++17"
) -> list[str]:
    """nvcc with the candidate's flags; its choice of architecture and language wins, as it does with torch."""
    own_arch = any("arch" in f or "-gencode" in f for f in candidate_flags)
    own_language = any(f.startswith(("-std", "--std")) for f in candidate_flags)
    return [
        str(toolkit.nvcc),
        *STOCK_FLAGS,
        *([] if own_arch else [f"-arch={arch}"]),
        *([] if own_language else [f"-std={language}"]),
        "-Xcompiler",
        "-fPIC,-fvisibility=hidden",
        "-w",
        *include,
        *candidate_flags,
    ]
