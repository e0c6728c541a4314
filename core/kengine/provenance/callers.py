"""Who asks for data of a tensor or an array: the candidate, or a library that only hands its memory on to a kernel."""

from __future__ import annotations

import sys
from collections.abc import Collection
from types import FrameType


def is_library(frame: FrameType | None, packages: Collection[str]) -> bool:
    """Whether the code of a frame belongs to one of these packages.

    Code that was generated has no module of its own (Triton's binding of arguments) and is its caller's. A name alone
    proves nothing, since any file can give itself one: it must be that of the module that is imported under it.
    """
    while frame is not None and not frame.f_globals.get("__name__"):
        frame = frame.f_back
    if frame is None:
        return False
    name = str(frame.f_globals["__name__"])
    module = sys.modules.get(name)
    return name.partition(".")[0] in packages and module is not None and vars(module) is frame.f_globals
