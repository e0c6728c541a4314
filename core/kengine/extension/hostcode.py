"""Host code of an extension whose functions are not run: what is certainly wrong in it, in a fifth of a second.

For a chip that is not here only kernels are compiled. The host's code is parsed with the light headers and the
emulator's names for the device, without the bodies of device functions. Neither knows all that torch and CUDA have, so
an error counts only where all of them are of kinds that no further header would mend.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from pathlib import Path

from kengine.errors import InfraError
from kengine.extension import failure, light, toolkit
from kengine.extension.settings import Settings
from kengine.extension.sources import BINDINGS, SourceSet
from kengine.simt.fault import CompileError, SimtError
from kengine.simt.lexer import blank, closing

_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_UNDECLARED = re.compile(r"[‘'](\w+)[’'] was not declared in this scope|use of undeclared identifier [‘'](\w+)[’']")
_SYNTAX = re.compile(r"^expected .*(?: before | at end of input| after |^expected )|^expected [‘'].[’']")
# Names of CUDA's and the compiler's, of which the emulator has not all; of macros; of vector types.
_DEVICES_OWN = re.compile(
    r"_|cu|CU|nv|NV|hip|make_|dim3|warp|thread|block|grid|[A-Z0-9_]+\Z|u?(?:char|short|int|long|longlong|float|double|half)\d"
)


def check(sources: SourceSet, settings: Settings) -> None:
    """Raise CandidateFault (compile_failed) for an error of the candidate's host code, with its line.

    Nothing is checked where the precompiled headers that `kengine.extension.warm` makes are missing.
    """
    plain = replace(settings, mode="emulated", check=False)
    if not toolkit.is_warm(plain):
        return
    hollow = replace(sources, units=tuple(replace(u, text=without_device_code(u.text)) for u in sources.units))
    try:
        with tempfile.TemporaryDirectory(dir=settings.cache) as name:
            light.parse(hollow, Path(name), plain)
    except CompileError as error:
        diagnosis = failure.diagnose(error.log or error.message, sources)
        if error.log and is_certain(error.log, sources):
            raise diagnosis.fault() from None
    except (SimtError, InfraError, OSError):
        return


def is_certain(log: str, sources: SourceSet) -> bool:
    """Whether each error of a compiler's log is the candidate's: a name that nothing has, or no C++."""
    errors = [(m["file"].rsplit("/", 1)[-1], m["text"]) for m in failure.ERROR.finditer(log)]
    known = {unit.filename for unit in sources.units}
    directives = "\n".join(re.findall(r"^[ \t]*#.*$", sources.text, re.M))
    visible = re.search(r"\busing\s+namespace\b", sources.text) is not None
    return bool(errors) and all(
        (file in known and _is_candidates(text, directives))
        or (file == BINDINGS and not visible and _UNDECLARED.search(text) is not None)
        for file, text in errors
    )


def _is_candidates(text: str, directives: str) -> bool:
    undeclared = _UNDECLARED.search(text)
    if undeclared:
        name = undeclared[1] or undeclared[2]
        written_there = re.search(rf"\b{re.escape(name)}\b", directives)
        return not (written_there or _DEVICES_OWN.match(name) or toolkit.is_declared(name))
    lacking = failure.lacking(text)
    return not toolkit.is_declared(lacking) if lacking else _SYNTAX.search(text) is not None


def without_device_code(text: str) -> str:
    """The text with the bodies of kernels and device functions empty, line by line as before.

    A function that the host can call as well keeps its own.
    """
    code = blank(text)
    kept, at = [], 0
    for match in _DEVICE.finditer(code):
        opening = re.compile(r"[{;]").search(code, match.end())
        if match.start() < at or opening is None or opening[0] == ";":
            continue
        head = code[max(code.rfind(c, 0, match.start()) for c in ";{}") + 1 : opening.start()]
        end = closing(code, opening.start())
        if end < 0 or re.search(r"\b(?:__host__|constexpr)\b|=\s*\Z", head):
            continue
        kept.append(text[at : opening.end()] + re.sub(r"[^\n]+", "", text[opening.end() : end]))
        at = end
    return "".join([*kept, text[at:]])
