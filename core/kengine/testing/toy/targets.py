"""What the toy backend offers: one emulator, which launches everywhere and times nowhere."""

from __future__ import annotations

from kengine.model import Capability, Target, TargetInfo

CPU = Target("toy", "cpu")


def find_targets() -> list[TargetInfo]:
    """List the targets. A backend with a device looks for it here, through `kengine.plugins.probe`."""
    return [
        TargetInfo(
            target=CPU,
            emulated=True,
            capabilities=(Capability.compile, Capability.launch),
            # A sentence for each capability that is missing: absence is data, never an exception.
            reasons={"time": "Python's time for a toy kernel says nothing about any chip"},
            preload=("numpy",),
            note="kernels in plain Python",
        )
    ]
