"""How extensions are built and run in this process."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from kengine.errors import CandidateFault
from kengine.simt.limits import DeviceLimits

BuildMode = Literal["emulated", "nvcc"]
Headers = Literal["auto", "light", "full"]

VARIABLE = "KENGINE_EXTENSION_HEADERS"
"""Environment variable that says which headers extensions are built with, whatever the settings say."""


@dataclass(frozen=True)
class Settings:
    """One way to build.

    mode: `emulated` (the machine's C++ compiler and the SIMT emulator) or `nvcc` (a device).
    cache: folder of this process's own extensions, by content. tools: folder of what every candidate shares (glue
    library, emulator's runtime, precompiled headers); only `warm` and first uses write to it. Default: the cache.
    dialect: `cuda` or `hip`; lanes: threads of a warp under emulation. check: bounds, races and uninitialised shared
    memory are checked at each access. arch: the chip, such as sm_90; limits: its launch limits (default: by arch).
    full_headers: whether torch's own headers may be used when the light ones do not fit (some ten seconds).
    light_headers: whether those are tried first. KENGINE_EXTENSION_HEADERS in the environment goes before both.
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
    light_headers: bool = True
    full_seconds: float = 300.0
    launch_seconds: float = 60.0

    @property
    def shared(self) -> Path:
        """The folder of tools."""
        return self.tools or self.cache

    @property
    def headers(self) -> Headers:
        """Which headers are used: those of torch where the light ones do not fit (`auto`), or always one kind.

        Raises CandidateFault (unsupported) for another word in the environment variable: a candidate's import is under
        way, which would take any other error for its own failure.
        """
        word = os.environ.get(VARIABLE, "")
        if word in ("auto", "light", "full"):
            return cast(Headers, word)
        if word:
            raise CandidateFault("unsupported", f"{VARIABLE} is {word!r}; expected auto, light or full")
        if not self.light_headers:
            return "full"
        return "auto" if self.full_headers else "light"
