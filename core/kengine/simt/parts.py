"""The programs that a driver such as g++ runs, and their arguments: asked once for each set of options.

Started themselves they take 2 ms less each time, and the compiler proper can be started before its source is there.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from kengine.simt import processes
from kengine.simt.toolchain import COMPILE_SECONDS, find_compiler

_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)', re.DOTALL)


def name_parts(options: Sequence[str], places: Mapping[str, str]) -> tuple[list[str], list[str]] | None:
    """The compiler proper, which writes assembler text to its output, and the assembler, which reads it; None where
    the driver is no g++ or works otherwise.

    Options hold names that stand for paths, which `places` gives: what is asked is remembered without them.
    """
    found = _ask((*options, "-pipe", "-c"))
    if found is None or len(found) != 2:
        return None
    front, back = found
    if Path(front[0]).name != "cc1plus" or front[-1] != "|" or Path(back[0]).name != "as":
        return None
    return _placed(front[:-1], places), _placed(back, places)


def name_linker(options: Sequence[str], places: Mapping[str, str]) -> list[str] | None:
    """The linker, without the plugin for link-time optimisation; None where the driver works otherwise."""
    found = _ask(tuple(options))
    linker = _linker()
    if linker is None or found is None or len(found) != 1 or Path(found[0][0]).name != "collect2":
        return None
    kept: list[str] = [linker]
    rest = iter(found[0][1:])
    for argument in rest:
        if argument == "-plugin":
            next(rest, None)
        elif not argument.startswith("-plugin-opt"):
            kept.append(argument)
    return _placed(kept, places)


def _placed(arguments: Sequence[str], places: Mapping[str, str]) -> list[str]:
    return [places.get(argument, argument) for argument in arguments]


@functools.lru_cache(maxsize=64)
def _ask(options: tuple[str, ...]) -> tuple[tuple[str, ...], ...] | None:
    """The commands that the driver would run."""
    compiler = find_compiler()
    if compiler.is_clang:
        return None
    done = subprocess.run(
        [*compiler.command, *options, "-###"],
        capture_output=True,
        text=True,
        errors="replace",
        env=processes.environment(),
        timeout=COMPILE_SECONDS,
        check=False,
    )
    if done.returncode:
        return None
    lines = [line for line in done.stderr.splitlines() if line.startswith(" ")]
    return tuple(tuple(_arguments(line)) for line in lines)


def _arguments(line: str) -> list[str]:
    """What a shell would make of a line of the driver's."""
    return [re.sub(r"\\(.)", r"\1", m[1]) if m[1] is not None else m[2] for m in _ARGUMENT.finditer(line)]


@functools.lru_cache(maxsize=1)
def _linker() -> str | None:
    command = [*find_compiler().command, "-print-prog-name=ld"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=processes.environment(), timeout=COMPILE_SECONDS, check=False
    )
    return shutil.which(done.stdout.strip()) if done.returncode == 0 else None
