"""Whose fault a compiler's refusal is: the candidate's, or that of a compiler which does not build the emulator.

Where a message is about the candidate's own text and nothing of kengine's is in it, it is the candidate's. Any other
may come from either, and no message tells which: a header of kengine's that this compiler does not understand and one
that the candidate uses wrongly read alike. There kengine's own use of the same headers is compiled in the same way, and
what refuses that is no witness against a candidate.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from kengine.simt import toolchain
from kengine.simt.fault import CompileError, SimtError, Unsupported
from kengine.simt.rewrite import rewrite
from kengine.simt.toolchain import SOURCES, find_compiler

Compile = Callable[[Sequence[str], Path, "float | None"], str]

_ERROR = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: ", re.M)
_OWN = re.compile(rf"{re.escape(str(SOURCES))}|\bsimt|SIMT_")
_CRASH = re.compile(
    r"internal compiler error\b.*|(?:out of memory allocating|virtual memory exhausted|Cannot allocate memory).*"
    r"|.*\b(?:Killed|Segmentation fault|Aborted)\b.*|PLEASE (?:submit a bug report|ATTACH).*|LLVM ERROR:.*"
)
_PRELUDE = '#define SIMT_STRICT_EXIT 1\n#include "definitions.h"\n'
_PROBES = SOURCES / "probe"
_ALWAYS = "language"
_PREFIXES = {
    "groups": ("cooperative_groups",),
    "cub": ("cub/", "hipcub/"),
    "random": ("curand", "hiprand/"),
    "matrix": ("mma.h",),
}
"""Headers, by the beginning of their names under `include`, and the probe that uses them."""
_compiled: set[tuple[tuple[str, ...], str]] = set()
_KEPT = re.compile(r"-(?:std=|[fmgOW]|w$|pipe$|-param=|D(?:SIMT|LIGHT)_|U)")


def attribute(error: CompileError, command: Sequence[str], directory: Path, compile_it: Compile) -> SimtError:
    """What to raise for a unit of a candidate's that a command did not compile in a folder: the same error, Unsupported
    where it made the compiler crash, CompilerUnusable where the compiler is at fault.

    compile_it: runs such a command in a folder, as the candidate's was run.
    """
    if not error.log or not _is_the_emulators(command) or is_plain(error.log, _source(command)):
        return error
    refused = probe(command, _probes(error.log), directory, compile_it)
    if refused is not None:
        return toolchain.unusable(refused)
    crash = _CRASH.search(error.log)
    if crash and not _ERROR.search(error.log):
        return Unsupported(f"a source that makes its compiler crash ({crash[0].strip()[:200]})")
    return error


def attribute_link(error: CompileError, unit: Sequence[str], link: Sequence[str], directory: Path) -> SimtError:
    """What to raise where a link of one object failed: the same error, CompilerUnusable where kengine's own object,
    compiled with the options of `unit`, is not linked either."""
    given = list(link)
    given[given.index("-o") - 1] = f"{_ALWAYS}.o"
    given[given.index("-o") + 1] = f"{_ALWAYS}.so"
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        try:
            _compile_probe(_options(unit), _ALWAYS, Path(folder), toolchain.run)
            toolchain.run(given, Path(folder))
        except CompileError as refused:
            return toolchain.unusable(refused)
    return error


def is_plain(log: str, source: str) -> bool:
    """Whether the first error of a log is about a line of the candidate's source and nothing of kengine's."""
    errors = _ERROR.finditer(log)
    first, following = next(errors, None), next(errors, None)
    if first is None or Path(first["file"]).name != source:
        return False
    about = log[first.start() : following.start() if following else len(log)]
    return _OWN.search(about) is None


def probe(command: Sequence[str], names: Sequence[str], directory: Path, compile_it: Compile) -> CompileError | None:
    """Compile kengine's own use of its headers with the options of a command, in a folder inside `directory`: the
    refusal, if there is one. What was compiled once is not compiled again in this process."""
    options = tuple(_options(command))
    for name in names:
        if (options, name) in _compiled:
            continue
        with tempfile.TemporaryDirectory(dir=directory) as folder:
            try:
                _compile_probe(options, name, Path(folder), compile_it)
            except CompileError as error:
                return error
        _compiled.add((options, name))
    return None


def _compile_probe(options: Sequence[str], name: str, folder: Path, compile_it: Compile) -> None:
    text = rewrite((_PROBES / f"{name}.cu").read_text(encoding="utf-8"))
    Path(folder, f"{name}.cu").write_text(f"{_PRELUDE}{text}", encoding="utf-8")
    ending = ["-c", "-x", "c++", f"{name}.cu", "-o", f"{name}.o"]
    compile_it([*find_compiler().command, *options, *ending], folder, None)


def _probes(log: str) -> list[str]:
    included = set(re.findall(rf"{re.escape(str(SOURCES / 'include'))}/([\w/.]+)", log))
    return [_ALWAYS, *(name for name, begin in _PREFIXES.items() if any(file.startswith(begin) for file in included))]


def _is_the_emulators(command: Sequence[str]) -> bool:
    driver = find_compiler().command
    return tuple(command[: len(driver)]) == driver and any(option.startswith("-DSIMT_LANES=") for option in command)


def _source(command: Sequence[str]) -> str:
    return command[list(command).index("-x") + 2] if "-x" in command else ""


def _options(command: Sequence[str]) -> list[str]:
    """The options of a command that are kengine's, and its precompiled header where that is the emulator's."""
    kept: list[str] = []
    header = ["-include", str(SOURCES / "simt" / "simt.h")]
    own = str(SOURCES.parents[1])
    rest = iter(command[len(find_compiler().command) :])
    for option in rest:
        if option in ("-Xclang", "-mllvm"):
            kept += [option, next(rest, "")]
        elif option in ("-include", "-include-pch"):
            file = next(rest, "")
            if Path(file).name.partition(".")[0] in ("simt", "extension"):
                header = [option, file]
        elif option in ("-x", "-o", "-isystem", "-I", "-D"):
            next(rest, None)
        elif _KEPT.match(option) or option.startswith(f"-I{own}"):
            kept.append(option)
    places = [f"-I{SOURCES / 'simt'}", f"-I{SOURCES / 'include'}"]
    return [*kept, *header, *(place for place in places if place not in kept)]
