"""Compiler options in the vendors' spelling, as far as they mean something to the emulator's C++ compiler."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path


def host_options(options: Iterable[str], workdir: Path) -> tuple[str, ...]:
    """Macros, the language standard, and folders for headers inside `workdir`; the rest (fast maths, architectures,
    optimisation) means nothing to the emulator."""
    given = [str(option) for option in options]
    made: list[str] = []
    for i, option in enumerate(given):
        following = given[i + 1] if i + 1 < len(given) else ""
        macro = re.match(r"(?:-D|--define-macro=)\s*(\w+(?:=.*)?)\Z", option, re.DOTALL)
        removed = re.match(r"(?:-U|--undefine-macro=)(\w+)\Z", option)
        standard = re.match(r"(?:-std|--std)=(?:c|gnu)\+\+(14|17|20|23)\Z", option)
        folder = re.match(r"(?:-I|--include-path=)(.+)\Z", option)
        if option in ("-D", "--define-macro") and re.match(r"\w", following):
            made.append(f"-D{following}")
        elif macro:
            made.append(f"-D{macro[1]}")
        elif removed:
            made.append(f"-U{removed[1]}")
        elif standard and int(standard[1]) > 17:
            made.append(f"-std=c++{standard[1]}")
        elif folder and os.path.realpath(workdir / folder[1]).startswith(os.path.realpath(workdir)):
            made.append(f"-I{os.path.realpath(workdir / folder[1])}")
    return (*made, f"-I{workdir}")
