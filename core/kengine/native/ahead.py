"""The compiler, started while a candidate is still imported that is about to give it a source."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kengine.native.options import host_options

if TYPE_CHECKING:
    from kengine.native.emulator import Emulator

_SOURCE = re.compile(r"\bRaw(?:Kernel|Module)\b|\b(?:Elementwise|Reduction)Kernel\b")
_OTHERS = re.compile(r"\bload(?:_inline)?\s*\(")


@contextmanager
def compiling(driver: Emulator) -> Iterator[None]:
    """Inside the block, a compiler stands ready where the driver's candidate looks as if it would need one.

    What it is started for is a guess: a source of another kind is compiled without it.
    """
    text = driver.candidate.main.text
    native = driver.candidate.language == driver.dialect
    if not native and (_OTHERS.search(text) or not _SOURCE.search(text)):
        yield
        return
    from kengine.simt import standing
    from kengine.simt.rewrite import has_volatile_code
    from kengine.simt.toolchain import Mode

    lanes = 64 if driver.limits.lanes == 64 else 32
    mode = Mode(lanes, driver.dialect == "hip", driver.check, has_volatile_code(text))
    name = Path(driver.candidate.main.path).name if native else "kernel.cu"
    with standing.started(name, mode, host_options((), driver.workdir), driver.folder):
        yield
