"""What device sources and extensions hold: kernels for host code, launched or not, and operators and libraries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kengine.extension import calls, linkage
from kengine.model import JsonValue
from kengine.native import libraries
from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank

if TYPE_CHECKING:
    from kengine.extension import Extension
    from kengine.simt import Program


def describe(
    texts: Iterable[str], extensions: Sequence[Extension], before: libraries.Mapped, workdir: Path,
    generated: Iterable[str] = (),
) -> dict[str, JsonValue]:  # fmt: skip
    """Details of an artifact: `defined` kernels, `libraries` and `operators` that the candidate leans on; of each of
    `extensions` with which headers it was built.

    texts: device sources. generated: names of kernels whose source is made when they are first launched. before: what
    was mapped before the candidate was loaded. Without pyelftools, where a built
    library cannot be read, `libraries` is not among them.
    """
    sources = [extension.sources for extension in extensions if extension.sources is not None]
    inside = [unit.text for given in sources for unit in given.units if unit.is_device]
    made = [bare_name(name) for e in extensions if e.program for name in e.program.kernels]
    details: dict[str, JsonValue] = {"defined": tuple(dict.fromkeys([*find_in([*texts, *inside]), *made, *generated]))}
    names, operators = libraries.describe(before, workdir)
    for extension in extensions:
        found = linkage.read(extension.library)
        names.update(found.libraries if found else ())
        operators.update(found.operators if found else ())
        if extension.path == "light" and extension.sources is not None:
            operators.update(calls.find_calls(extension.sources.text))
    details["operators"] = tuple(sorted(operators))
    if extensions:
        details["extensions"] = tuple(extension.describe() for extension in extensions)
    if linkage.is_readable() or not extensions:
        details["libraries"] = tuple(sorted(names))
    return details


def find_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Names of the kernels of some sources, each once, without scopes and template arguments, in order of definition.

    A kernel that only other kernels launch (dynamic parallelism) is not among them.
    """
    found: dict[str, None] = {}
    for text in dict.fromkeys(texts):
        code = blank(text)
        kernels = find_kernels(_without_macros(code))
        bodies = [(kernel.body_start, kernel.body_end) for kernel in kernels]
        for kernel in kernels:
            if not _only_launched_inside(code, kernel.name, bodies):
                found[kernel.name] = None
    return tuple(found)


def name_launch(kernel: str, function: int, programs: Sequence[Program]) -> str:
    """The name of a kernel that was launched by an expression: its own where that is a variable that holds it.

    function: its address, 0 where it is not known.
    """
    named = bare_name(kernel)
    for program in programs if function else ():
        symbol = program.function_at(function)
        if symbol:
            own = re.sub(r"^.* (?=[\w:]+(?:<|\Z))", "", re.split(r"\((?!anonymous)", linkage.demangle(symbol))[0])
            return kernel if bare_name(own) == named else own.replace("(anonymous namespace)::", "")
    return kernel


def _without_macros(code: str) -> str:
    """The text with macros blanked: names of kernels in them may be parameters."""
    return re.sub(r"^[ \t]*#[ \t]*define\b(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m[0]), code, flags=re.M)


def bare_name(kernel: str) -> str:
    """A launched kernel's name as `find_in` gives it: `scale` for `ns::scale<float, 4>`."""
    return kernel.partition("<")[0].strip("( )").rpartition("::")[2].strip()


def _only_launched_inside(code: str, name: str, bodies: list[tuple[int, int]]) -> bool:
    launches = [m.start() for m in re.finditer(rf"\b{re.escape(name)}\s*(?:<[^<>;(){{}}]*>\s*)?<<<", code)]
    return bool(launches) and all(any(a < at < b for a, b in bodies) for at in launches)
