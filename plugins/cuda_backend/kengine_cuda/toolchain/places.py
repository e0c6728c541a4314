"""Where NVIDIA's compilers and headers lie; nothing is loaded."""

from __future__ import annotations

import functools
import glob
import importlib.util
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

HELP = "pip install 'kernel-engine[cuda]', or the CUDA toolkit with nvcc"


@dataclass(frozen=True)
class Places:
    """nvrtc: the library; nvcc: the command; each "" when there is none. includes: folders of headers."""

    nvrtc: str
    nvcc: str
    includes: tuple[str, ...]

    @property
    def problem(self) -> str:
        """Why nothing can be compiled, "" when something can."""
        return "" if self.nvrtc or self.nvcc else f"neither NVRTC nor nvcc: {HELP}"


@functools.lru_cache(maxsize=1)
def find_places() -> Places:
    """Look through the packages of this interpreter, then CUDA_HOME, CUDA_PATH, PATH and /usr/local."""
    roots = [*_wheels(), *_toolkits()]
    libraries = [found for root in roots for found in _libraries(root)]
    commands = [str(Path(root, "bin", "nvcc")) for root in roots if os.access(Path(root, "bin", "nvcc"), os.X_OK)]
    nvrtc = libraries[0] if libraries else ""
    # Headers of the same release as the compiler: those of another may need a newer one.
    first = [str(Path(nvrtc).parents[1])] if nvrtc else []
    includes: list[str] = []
    for root in [*first, *roots]:
        for name in ("include", "include/cccl", "cccl/include", "cccl"):
            folder = Path(root, name)
            wanted = "cuda_runtime.h" if name == "include" else "cuda/std"
            if (folder / wanted).exists() and str(folder) not in includes:
                includes.append(str(folder))
    return Places(nvrtc, commands[0] if commands else "", tuple(_first_of_each(includes)))


def _first_of_each(includes: list[str]) -> list[str]:
    """Of several folders with CUDA's own headers only the first."""
    kept: list[str] = []
    have: set[str] = set()
    for folder in includes:
        kind = "runtime" if Path(folder, "cuda_runtime.h").exists() else "cccl"
        if kind not in have:
            have.add(kind)
            kept.append(folder)
    return kept


def _wheels() -> list[str]:
    """Folders of NVIDIA's packages: nvidia/cu13, or nvidia/cuda_nvrtc and the like of older releases."""
    spec = importlib.util.find_spec("nvidia")
    found = [
        str(folder)
        for place in (spec.submodule_search_locations or () if spec else ())
        for folder in Path(place).iterdir()
        if re.match(r"cu\d|cuda_|cccl", folder.name)
    ]
    return sorted(found, key=lambda name: (not Path(name).name.startswith("cu1"), name))


def _toolkits() -> list[str]:
    named = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", "")]
    on_path = shutil.which("nvcc")
    if on_path:
        named.append(str(Path(os.path.realpath(on_path)).parents[1]))
    named += ["/usr/local/cuda", *sorted(glob.glob("/usr/local/cuda-*"), reverse=True)]
    return [root for root in dict.fromkeys(named) if root and os.path.isdir(root)]


def _libraries(root: str) -> list[str]:
    found = []
    for name in ("lib", "lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib"):
        found += [p for p in glob.glob(f"{root}/{name}/libnvrtc.so*") if ".alt." not in p]
    return sorted(found, key=len)
