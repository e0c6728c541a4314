"""Messages of compilers, linkers and loaders, turned into faults with the candidate's own lines."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

from kengine.errors import CandidateFault
from kengine.extension.sources import BINDINGS, SourceSet
from kengine.simt.lexer import blank, line_of

# Names that only torch's headers define. An error about one of them says that the light headers do not fit.
_OURS = (
    r"(?:class|struct) [‘'](?:const )?(?:at|c10|torch|caffe2|pybind11|light)::",
    r"no member named [‘'][^’']+[’'] in (?:namespace )?[‘'](?:at|c10|torch|caffe2|pybind11|light)\b",
    r"is not a member of [‘'](?:at|c10|torch|caffe2|pybind11|py)(?:::[\w:]+)?[’']",
    r"namespace \"(?:at|c10|torch|caffe2|pybind11)(?:::\w+)*\" has no member",
    r"class \"(?:at|c10|torch|caffe2|pybind11)::[^\"]*\" has no member",
    r"[‘'](?:torch|at|c10|py|pybind11)(?:::\w+)*[’'] (?:is not a namespace|has not been declared)",
    r"(?:torch|ATen|c10|caffe2|pybind11|Python)[\w/.]*\.(?:h|cuh|hpp): No such file",
    r"cannot open source file \"(?:torch|ATen|c10|caffe2|pybind11|Python)",
    r"[‘'\"]?(?:AT|TORCH|C10|PYBIND11|STD_TORCH)_[A-Z0-9_]+[’'\"]? (?:was not declared|is undefined)",
    r"identifier \"(?:AT|TORCH|C10|PYBIND11)_[A-Z0-9_]+\" is undefined",
    r"incomplete type [‘'](?:struct )?light::Convert",
    r"incomplete (?:class )?type \"light::Convert",
    r"(?:no matching function|no instance|could not convert|cannot convert|no match for|conversion from|ambiguous)"
    r"[^\n]*(?:at::|c10::|torch::|light::|pybind11::)",
    r"no suitable (?:constructor|user-defined conversion|conversion function)[^\n]*(?:at::|c10::|light::|pybind11::)",
)
_ERROR = re.compile(
    r"^(?P<file>[^\s:(][^:(\n]*)(?::(?P<line>\d+)(?::\d+)?|\((?P<paren>\d+)\)): "
    r"(?:fatal |catastrophic )?error:? (?P<text>.*)$",
    re.M,
)


@dataclass(frozen=True)
class Diagnosis:
    """The first error of a log: unit, line (0 unknown), text; and whether torch's own headers may make it go away."""

    unit: str
    line: int
    text: str
    log: str
    may_fit: bool

    def fault(self) -> CandidateFault:
        """As the record's error."""
        label = self.unit.rsplit(".", 1)[0] if self.unit.startswith(("cpp_sources", "cuda_sources")) else self.unit
        where = f"{label}:{self.line}: " if self.line else f"{label}: " if label else ""
        return CandidateFault("compile_failed", where + self.text, self.log, self.line)


def diagnose(log: str, sources: SourceSet) -> Diagnosis:
    """What a compiler's log says. An error inside of a header is reported at the candidate's line that led there."""
    known = {u.filename for u in sources.units} | {BINDINGS}
    errors = list(_ERROR.finditer(log))
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
    return Diagnosis(unit, line, text, log, _may_fit(errors, log, known))


def _may_fit(errors: list[re.Match[str]], log: str, known: set[str]) -> bool:
    if any(re.search(pattern, m.group(0)) for m in errors for pattern in _OURS):
        return True
    # An error in one of our headers is one that torch's may not have.
    return any("/extension/light/" in m["file"] or "/extension/include/" in m["file"] for m in errors)


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
