"""From an exception that a candidate caused to the fault that is reported: type, text, the candidate's own line.

Everything here must hold against exceptions made to do harm: texts without end, `__str__` that raises, cycles.
"""

from __future__ import annotations

import errno
import re
from types import TracebackType
from typing import Any

from kengine.errors import CandidateFault

MAX_MESSAGE = 1000
MAX_LOG = 30_000
_MAX_FRAMES = 60
_OWN = re.compile(r"[/\\]kengine(_[a-z]+)?[/\\]")
_sources: dict[str, str] = {}
_limits: dict[str, Any] = {}


def set_sources(names: dict[str, str]) -> None:
    """Say which files are the candidate's: absolute path to the name that its author knows; the main file first."""
    _sources.clear()
    _sources.update(names)


def source_files() -> frozenset[str]:
    """Absolute paths of the candidate's files."""
    return frozenset(_sources)


def main_source() -> str:
    """Absolute path of the candidate's main file, "" when none is placed yet."""
    return next(iter(_sources), "")


def source_name(file: str) -> str:
    """The name that the candidate's author knows a file by; other files keep theirs."""
    return _sources.get(file, file)


def set_limits(limits: dict[str, Any]) -> None:
    """Say which limits are in force, for the messages of faults that come from one of them."""
    _limits.clear()
    _limits.update(limits)


def text_of(error: BaseException) -> str:
    """Write an exception's own text, whatever its `__str__` does, cut."""
    try:
        text = str(error)
    except BaseException as inner:
        text = f"<its text cannot be read: {type(inner).__name__}>"
    return clean(text if type(text) is str else "", MAX_MESSAGE)


def clean(text: str, most: int) -> str:
    """Cut a text in the middle, and replace what is not a character."""
    if len(text) > most:
        text = f"{text[: most * 2 // 3]} [...] {text[-(most // 3) :]}"
    return text.encode("utf-8", "replace").decode()


def name_of(error: BaseException) -> str:
    """Name of an exception's type."""
    name = type.__dict__["__name__"].__get__(type(error))
    return clean(str(name), 200)


def frames(trace: TracebackType | None) -> list[tuple[str, int, str]]:
    """File, line and function of each frame, outermost first, without running any of the candidate's code."""
    found: list[tuple[str, int, str]] = []
    while trace is not None and len(found) < 5000:
        code = trace.tb_frame.f_code
        found.append((code.co_filename, trace.tb_lineno or 0, code.co_name))
        trace = trace.tb_next
    return found


def own_line(error: BaseException) -> int:
    """The innermost line of the candidate's main file that an exception passed through, 0 when there is none."""
    main = next(iter(_sources), "")
    if isinstance(error, SyntaxError) and error.filename == main:
        return error.lineno or 0
    for _ in range(20):
        lines = [line for file, line, _ in frames(error.__traceback__) if file == main]
        if lines:
            return lines[-1]
        following = error.__cause__ or error.__context__
        if following is None:
            break
        error = following
    return 0


def log_of(error: BaseException) -> str:
    """A traceback of the candidate's and its libraries' frames; kengine's own are left out."""
    parts = []
    following: BaseException | None = error
    for _ in range(5):
        if following is None:
            break
        shown = [f for f in frames(following.__traceback__) if not _OWN.search(f[0]) or f[0] in _sources]
        if len(shown) > _MAX_FRAMES:
            half = _MAX_FRAMES // 2
            shown = [*shown[:half], ("...", 0, f"{len(shown) - _MAX_FRAMES} more"), *shown[-half:]]
        lines = [f'  File "{_sources.get(file, file)}", line {line}, in {name}\n{_source_line(file, line)}'
                 for file, line, name in shown]  # fmt: skip
        parts.append("".join(lines) + f"{name_of(following)}: {text_of(following)}\n")
        following = following.__cause__ or (None if following.__suppress_context__ else following.__context__)
    return clean("\nThe above came before:\n".join(reversed(parts)), MAX_LOG)


def _source_line(file: str, line: int) -> str:
    if file not in _sources:
        return ""
    import linecache

    text = linecache.getline(file, line).strip()
    return f"    {text[:200]}\n" if text else ""


def from_exception(error: BaseException, status: str, doing: str) -> CandidateFault:
    """Build the fault for an exception; `status` is what an ordinary one means at this point, `doing` says what ran.

    Leaving the program is launch_failed whenever it happens; running out of memory is crashed, with the limit named.
    """
    if isinstance(error, CandidateFault):
        return error
    line = own_line(error)
    if isinstance(error, (SystemExit, KeyboardInterrupt, GeneratorExit)) or not isinstance(error, Exception):
        status = "launch_failed"
    message = f"{doing} raised {name_of(error)}: {text_of(error)}".rstrip(": ")
    if isinstance(error, SystemExit):
        message = f"{doing} tried to end the process: {name_of(error)}: {text_of(error)}".rstrip(": ")
    elif _out_of_memory(error):
        status = "crashed"
        message = f"{doing} ran out of memory{_limit('memory_bytes')}: {text_of(error)}".rstrip(": ")
    elif isinstance(error, OSError):
        message += {
            errno.ENOSPC: _limit("disk_bytes"),
            errno.EDQUOT: _limit("disk_bytes"),
            errno.EFBIG: _limit("file_bytes"),
            errno.EAGAIN: _limit("processes"),
            errno.EMFILE: _limit("open_files"),
        }.get(error.errno or 0, "")
    elif isinstance(error, RuntimeError) and "can't start new thread" in text_of(error):
        message += _limit("processes")
    if line:
        message += f" (line {line})"
    return CandidateFault(status, clean(message, 2 * MAX_MESSAGE), log_of(error), line)


def _out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    text = text_of(error)
    return isinstance(error, RuntimeError) and (
        "can't allocate memory" in text or "not enough memory" in text or "std::bad_alloc" in text
    )


def _limit(name: str) -> str:
    value = _limits.get(name)
    if not value:
        return ""
    if name.endswith("_bytes"):
        return f" (limit {name}: {value / (1 << 20):g} MiB)"
    return f" (limit {name}: {value})"
