"""Warming up for candidates on the emulator: what a runner would otherwise import, build and load itself."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from kengine.native.driver import Dialect

_EXTENSIONS = (
    "kengine.extension.builder", "kengine.extension.failure", "kengine.extension.light", "kengine.extension.module",
    "kengine.extension.nvcc", "kengine.extension.sources", "kengine.extension.calls", "kengine.extension.settings",
    "kengine.extension.toolkit",
)  # fmt: skip
"""What building an extension needs."""

KERNEL = """
extern "C" __global__ void increment(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}
"""


def import_all() -> None:
    """Import torch (one thread) and every part of kengine that loading and calling a candidate needs."""
    import torch

    torch.set_num_threads(1)
    import torch.utils.cpp_extension

    from kengine.native import ahead, arguments, binding, definitions, inline, memory, options, session, unrun  # noqa: F401
    from kengine.native.cupy import arrays, elementwise, functions, kernels, reduction, runtime  # noqa: F401
    from kengine.pretence import cuda, tensors  # noqa: F401
    from kengine.runner import entry, source, state, watch  # noqa: F401
    from kengine.runner.modules import import_modules

    import_modules(*_EXTENSIONS)
    watch.trust("cupy")
    state.include("cupy")


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is removed at the end of the block, or, when this process is killed first, by the next engine.

    `kengine.engine.scratch` knows it for one of its own by the name, the lock and the mark: a zygote has no engine.
    """
    with tempfile.TemporaryDirectory(prefix="kengine-warm-") as name:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with contextlib.suppress(OSError):  # a file system that cannot lock a folder
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.chmod(name, 0o700 | stat.S_ISVTX)
            yield Path(name)
        finally:
            os.close(fd)


def rehearse(dialect: Dialect, lanes: Literal[32, 64], arch: str) -> None:
    """Build what all candidates for one width share, then one small kernel with checks and without, and launch it.

    Raises kengine.simt.CompilerMissing, CompilerUnusable, OSError.
    """
    import numpy as np

    from kengine.native import cache, emulator  # noqa: F401
    from kengine.native.options import host_options
    from kengine.simt import DeviceLimits, build

    cache.prepare(lanes, dialect)
    limits = DeviceLimits.of(arch)
    with temporary_folder() as folder:
        place = cache.make_private(folder)
        for check in (True, False):
            program = build(
                KERNEL, lanes=lanes, dialect=dialect, check=check, limits=limits, cache=place,
                options=host_options((), place),
            )  # fmt: skip
            program.launch("increment", 1, 64, (np.zeros(8, np.float32), 8))
