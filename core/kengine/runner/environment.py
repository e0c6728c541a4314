"""The environment of a process in a sandbox: every folder that a toolchain writes to is the private one."""

from __future__ import annotations

import os
import tempfile

_FOLDERS = {
    "HOME": ".", "TMPDIR": "tmp", "XDG_CACHE_HOME": "cache", "TRITON_HOME": ".", "TRITON_CACHE_DIR": "cache/triton",
    "TORCH_EXTENSIONS_DIR": "cache/torch_extensions", "TORCHINDUCTOR_CACHE_DIR": "cache/inductor",
    "CUDA_CACHE_PATH": "cache/cuda", "CUPY_CACHE_DIR": "cache/cupy", "NUMBA_CACHE_DIR": "cache/numba",
}  # fmt: skip


def make_private(workdir: str, cache: str = "") -> None:
    """Make the folders, point the variables at them, and work there; caches go into `cache` when there is one."""
    for name, place in _FOLDERS.items():
        inside = place.removeprefix("cache/")
        folder = os.path.join(cache, inside) if cache and inside != place else os.path.join(workdir, place)
        os.makedirs(folder, exist_ok=True)
        os.environ[name] = os.path.normpath(folder)
    tempfile.tempdir = None
    os.chdir(workdir)
