"""Messages of compilers, linkers and loaders, turned into faults with the candidate's own lines."""

from __future__ import annotations

import ctypes
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from kengine.errors import CandidateFault
from kengine.extension.sources import BINDINGS, SourceSet
from kengine.extension.toolkit import is_declared, is_macro, torch_folder
from kengine.simt.lexer import blank, line_of

_SPACE = r"(?:at|c10|torch|caffe2|pybind11|py|light)"
# A name that is not there, in a namespace or class of torch: as GCC, clang and nvcc say it.
_LACKING = (
    rf"[‘'](?P<a>\w+)[’'] (?:is not a member of|has not been declared in) [‘']{_SPACE}\b",
    rf"[‘']{_SPACE}(?:::\w+)*::(?P<b>\w+)[’'] (?:is not a namespace|has not been declared|is not a type)",
    rf"[‘'](?P<c>\w+)[’'] in (?:namespace|class|struct) [‘']{_SPACE}\b",
    rf"[‘'](?:const )?(?:class|struct) (?:const )?{_SPACE}::[^’']*[’'] has no member named [‘'](?P<d>\w+)",
    rf"no (?:member|type|template) named [‘'](?P<e>\w+)[’'] in (?:namespace )?[‘'](?:const )?{_SPACE}\b",
    rf"(?:namespace|class) \"{_SPACE}(?:::[^\"]*)?\" has no member \"(?P<f>\w+)\"",
    r"[‘'\"]?\b(?P<g>(?:AT|TORCH|C10|PYBIND11|STD_TORCH)_[A-Z0-9_]+)[’'\"]? (?:was not declared|is undefined)",
    r"undeclared identifier [‘'](?P<h>(?:AT|TORCH|C10|PYBIND11|STD_TORCH)_[A-Z0-9_]+)",
)
# A name without its namespace: one of torch's where a directive opens those, or by the arguments of a call.
_BARE = (
    r"[‘'](?P<a>\w+)[’'] (?:(?:was not|has not been) declared|does not name a type|is not a (?:type|namespace-name))",
    r"(?:undeclared identifier|unknown type name|no template named) [‘'](?P<b>\w+)",
    r"identifier \"(?P<c>\w+)\" is undefined",
    r"name followed by \"::\" must be a class or namespace name",
)
# A header that is not there.
_HEADER = re.compile(
    r"[‘'\"](?P<a>[\w./+-]+)[’'\"] file not found|(?P<b>[\w./+-]+): No such file|"
    r"cannot open source file \"(?P<c>[^\"]+)\""
)
# Other errors that say that the light headers do not fit.
_OURS = (
    rf"(?:class|struct) [‘'](?:const )?{_SPACE}::",
    r"(?:torch|ATen|c10|caffe2|pybind11|Python)[\w/.]*\.(?:h|cuh|hpp)[’']?(?:: No such file| file not found)",
    r"cannot open source file \"(?:torch|ATen|c10|caffe2|pybind11|Python)",
    r"incomplete type [‘'](?:struct )?light::Convert",
    r"incomplete (?:class )?type \"light::Convert",
    r"(?:no matching function|no instance|could not convert|cannot convert|no match for|conversion from|ambiguous)"
    r"[^\n]*(?:at::|c10::|torch::|light::|pybind11::)",
    r"no suitable (?:constructor|user-defined conversion|conversion function)[^\n]*(?:at::|c10::|light::|pybind11::)",
)
_DIRECTIVE = re.compile(r"\busing\s+namespace\s+(?:::\s*)?(?:at|c10|torch)\b")
ERROR = re.compile(
    r"^(?P<file>[^\s:(][^:(\n]*)(?::(?P<line>\d+)(?::\d+)?|\((?P<paren>\d+)\)): "
    r"(?:fatal |catastrophic )?error:? (?P<text>.*)$",
    re.M,
)

# What a compiler, assembler or linker says of itself; the candidate's own words come with a line of its source.
_FULL = re.compile(
    r"^(?!\s*\d*\s*\|)(?![^\n]*:\d+(?::\d+)?: )[^\n]*(?P<said>No space left on device|Disk quota exceeded)", re.M
)


@dataclass(frozen=True)
class Diagnosis:
    """The first error of a log: unit, line (0 unknown), text; and whether torch's own headers may make it go away.

    lacks: the name that torch's own headers have and the light ones do not.
    """

    unit: str
    line: int
    text: str
    log: str
    may_fit: bool
    lacks: str = ""

    def fault(self, without: str = "") -> CandidateFault:
        """As the record's error. without: why torch's own headers have not been tried; a name that only those have is
        unsupported then, and no fault of the candidate."""
        label = self.unit.rsplit(".", 1)[0] if self.unit.startswith(("cpp_sources", "cuda_sources")) else self.unit
        where = f"{label}:{self.line}: " if self.line else f"{label}: " if label else ""
        if without and self.lacks:
            text = f"{where}{self.text}: torch's own headers have {self.lacks!r}, the light ones do not; {without}"
            return CandidateFault("unsupported", text, self.log, self.line)
        return CandidateFault("compile_failed", where + self.text, self.log, self.line)


def diagnose(log: str, sources: SourceSet) -> Diagnosis:
    """What a compiler's log says. An error inside of a header is reported at the candidate's line that led there."""
    known = {u.filename for u in sources.units} | {BINDINGS}
    errors = list(ERROR.finditer(log))
    own = next((m for m in errors if m["file"].rsplit("/", 1)[-1] in known), None)
    first = errors[0] if errors else None
    chosen = own or first
    if chosen is None:
        text = next(
            (line for line in log.splitlines() if "error" in line.lower()),
            log.strip().splitlines()[-1] if log.strip() else "compilation failed",
        )
        return Diagnosis("", 0, text.strip()[:500], log, False)
    unit, line, text = chosen["file"].rsplit("/", 1)[-1], int(chosen["line"] or chosen["paren"]), chosen["text"]
    if unit == BINDINGS:
        name = re.search(r"[‘'\"](\w+)[’'\"] was not declared", text)
        if name:
            return Diagnosis(
                "", 0, f"functions names '{name.group(1)}', which cpp_sources does not declare", log, False
            )
        unit, line = "", 0
    elif unit not in known:
        near = re.search(r"(?:^|[\s/])(" + "|".join(map(re.escape, known)) + r")[:(](\d+)", log, re.M)
        unit, line = (near.group(1), int(near.group(2))) if near else ("", 0)
    lacks = _find_lacking(errors, sources)
    return Diagnosis(unit, line, text, log, bool(lacks) or _may_fit(errors), lacks)


def _find_lacking(errors: list[re.Match[str]], sources: SourceSet) -> str:
    """The first name that an error misses and torch's own headers have."""
    for error in errors:
        header = _missing_header(error.group(0))
        if header:
            return header
        named = _first(_LACKING, error.group(0))
        if named and is_declared(named):
            return named
        bare = _first(_BARE, error.group(0))
        if bare and _may_be_torchs(bare, sources) and is_declared(bare):
            return bare
    return ""


def _missing_header(text: str) -> str:
    """The header that an error misses, where torch has it."""
    found = _HEADER.search(text)
    name = next((value for value in found.groupdict().values() if value), "") if found else ""
    folder = torch_folder() / "include"
    return name if name and ((folder / name).is_file() or (folder / "torch/csrc/api/include" / name).is_file()) else ""


def lacking(text: str) -> str:
    """The name that an error misses in a namespace or class of torch, "" for another error."""
    return _first(_LACKING, text)


def _first(patterns: tuple[str, ...], text: str) -> str:
    found = next((m for pattern in patterns if (m := re.search(pattern, text))), None)
    return next((value for value in found.groupdict().values() if value), "") if found else ""


def _may_be_torchs(name: str, sources: SourceSet) -> bool:
    text = blank(sources.text)
    if _DIRECTIVE.search(text) or is_macro(name):
        return True
    import torch

    return re.search(rf"\b{re.escape(name)}\s*\(", text) is not None and hasattr(torch.ops.aten, name)


def _may_fit(errors: list[re.Match[str]]) -> bool:
    if any(re.search(pattern, m.group(0)) for m in errors for pattern in _OURS):
        return True
    # An error in one of our headers is one that torch's may not have.
    return any("/extension/light/" in m["file"] or "/extension/include/" in m["file"] for m in errors)


def find_full_disk(log: str, folder: Path) -> CandidateFault | None:
    """What to raise where a tool has found no room for what it writes: nothing is wrong with the candidate's text."""
    found = _FULL.search(log)
    if found is None:
        return None
    place = next((p for p in (folder, *folder.parents) if p.exists()), Path("/"))
    disk = shutil.disk_usage(place)
    text = f"{found['said']}: the compiler could not write to {folder}, a disk of {disk.total >> 20} MB"
    return CandidateFault("unsupported", f"{text}; make room there, or raise the limit disk_bytes", log)


def diagnose_symbol(message: str, sources: SourceSet) -> Diagnosis | None:
    """A function that is declared and used but nowhere defined, from the loader's message; None for another message."""
    missing = re.search(r"undefined (?:symbol: |reference to [`‘'])([\w.]+)", message)
    if not missing:
        return None
    shown = demangle(missing.group(1))
    name = shown.split("(")[0].split("::")[-1].split("<")[0].strip()
    for unit in sources.units:
        uses = [m.start() for m in re.finditer(rf"\b{re.escape(name)}\b", blank(unit.text))]
        if uses:
            line = line_of(unit.text, uses[0])
            return Diagnosis(unit.filename, line, f"'{shown}' is declared but not defined", message, False)
    return Diagnosis(
        "", 0, f"'{shown}' is declared but not defined", message, shown.startswith(("at::", "c10::", "torch::"))
    )


def demangle(symbol: str) -> str:
    """The C++ name of a symbol, as written."""
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return symbol
    function = library["__cxa_demangle"]
    function.restype = ctypes.c_void_p
    status = ctypes.c_int()
    address = function(symbol.encode(), None, None, ctypes.byref(status))
    if not address:
        return symbol
    text = ctypes.string_at(address).decode(errors="replace")
    free = ctypes.CDLL(None).free
    free.argtypes = [ctypes.c_void_p]
    free(address)
    return text


def candidate_line(candidate: str, source: str, line: int) -> int:
    """The line of a candidate's file that holds a line of one of its sources; 0 when that is no literal."""
    at = candidate.find(source)
    return candidate.count("\n", 0, at) + line if at >= 0 and line > 0 else 0
