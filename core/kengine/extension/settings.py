"""How extensions are built and run in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kengine.simt.limits import DeviceLimits

BuildMode = Literal["emulated", "nvcc"]


@dataclass(frozen=True)
class Settings:
    """One way to build.

    mode: `emulated` (the machine's C++ compiler and the SIMT emulator) or `nvcc` (a device).
    cache: folder of this process's own extensions, by content. tools: folder of what every candidate shares (glue
    library, emulator's runtime, precompiled headers); only `warm` and first uses write to it. Default: the cache.
    dialect: `cuda` or `hip`; lanes: threads of a warp under emulation. check: bounds, races and uninitialised shared
    memory are checked at each access. arch: the chip, such as sm_90; limits: its launch limits (default: by arch).
    full_headers: whether torch's own headers may be used when the light ones do not fit (some ten seconds).
    full_seconds: what one unit may take with them. launch_seconds: processor time that one emulated launch may take.
    """

    cache: Path
    mode: BuildMode = "emulated"
    tools: Path | None = None
    dialect: Literal["cuda", "hip"] = "cuda"
    lanes: Literal[32, 64] = 32
    check: bool = False
    arch: str = "sm_90"
    limits: DeviceLimits | None = field(default=None, compare=False)
    full_headers: bool = True
    full_seconds: float = 300.0
    launch_seconds: float = 60.0

    @property
    def shared(self) -> Path:
        """The folder of tools."""
        return self.tools or self.cache
