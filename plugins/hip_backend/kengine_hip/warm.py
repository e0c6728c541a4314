"""Warming up: in the zygote everything that needs no device, in a standby runner the device itself."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from kengine.errors import TargetUnavailable
from kengine.model import Target

from kengine_hip import toolchain
from kengine_hip.chips import Chip
from kengine_hip.targets import EMULATORS

KERNEL = """
extern "C" __global__ void increment(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] += 1.0f;
}
"""


def warm_up(target: Target) -> bool:
    """Import torch (one thread); build the emulator's parts, or find the compiler for a chip."""
    import torch

    torch.set_num_threads(1)
    from kengine.native import binding, session  # noqa: F401
    from kengine.native.cupy import arrays, elementwise, functions, kernels, reduction, runtime  # noqa: F401
    from kengine.pretence import tensors  # noqa: F401

    if target.arch in EMULATORS:
        _emulate(EMULATORS[target.arch])
    else:
        # What is missing is said by the first compile.
        with contextlib.suppress(TargetUnavailable):
            toolchain.find_toolchain()
            _share()
    return True


def open_device(target: Target) -> bool:
    """Open the device's context; nothing to do where there is no device."""
    if target.arch in EMULATORS:
        return True
    import torch

    if torch.cuda.is_available() and getattr(torch.version, "hip", None):
        torch.zeros(16, device="cuda").add_(1)
        torch.cuda.synchronize()
    return True


def _emulate(chip: Chip) -> None:
    """Build the parts for both widths, since answers are compared between them; run one small kernel."""
    import numpy as np
    from kengine.native import cache
    from kengine.simt import DeviceLimits, build

    for lanes in (64, 32):
        cache.prepare(lanes, "hip")
    with tempfile.TemporaryDirectory() as folder:
        place = cache.make_private(Path(folder))
        for check in (True, False):
            program = build(KERNEL, filename="increment.hip", lanes=64 if chip.lanes == 64 else 32, dialect="hip",
                            check=check, limits=DeviceLimits.of(chip.arch), cache=place)  # fmt: skip
            program.launch("increment", 1, 64, (np.zeros(8, np.float32), 8))


def _share() -> None:
    """Let runners read the compiler, its headers and libraries, which lie in packages of the environment."""
    from kengine.runner.sandbox import paths

    found = toolchain.find_toolchain()
    paths.share(str(found.root))
    if found.libraries is not None:
        paths.share(str(found.libraries))
