"""Compiler options of a candidate, as far as they may reach the device compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from kengine.native.options import host_options

_HARMLESS = re.compile(
    r"-O[0-3s]|-Ofast|-ffast-math|-fno-fast-math|-ffp-contract=(?:off|on|fast|fast-honor-pragmas)|-funroll-loops"
    r"|-fgpu-flush-denormals-to-zero|-munsafe-fp-atomics|-mno-unsafe-fp-atomics|-fno-finite-math-only|-mcumode"
    r"|-ffinite-math-only|-fno-signed-zeros|-freciprocal-math|-fassociative-math|-mwavefrontsize64"
)
_SAME = {"--use_fast_math": "-ffast-math", "-use_fast_math": "-ffast-math"}


def device_options(options: Iterable[str], workdir: Path) -> tuple[str, ...]:
    """Macros, language standard and include folders inside `workdir`, and options of arithmetic and optimisation.

    What chooses an architecture, a path or a plugin is left out: the target decides.
    """
    given = [str(option) for option in options]
    kept = [_SAME.get(o, o) for o in given if _HARMLESS.fullmatch(_SAME.get(o, o))]
    return (*host_options(given, workdir), *kept)
