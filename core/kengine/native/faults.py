"""From what the emulator and its compiler raise to the faults of a candidate, with the candidate's own lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kengine.errors import CandidateFault
from kengine.native.lines import LineMap
from kengine.runner.faults import MAX_LOG, MAX_MESSAGE, clean

if TYPE_CHECKING:
    from kengine.simt import Fault, SimtError

_KINDS = {
    "out_of_bounds_read": "out-of-bounds read", "out_of_bounds_write": "out-of-bounds write",
    "shared_out_of_bounds": "shared memory out of bounds", "misaligned": "misaligned access", "null": "null pointer",
    "division_by_zero": "division by zero", "stack_overflow": "stack overflow",
    "barrier_divergence": "barrier divergence", "deadlock": "deadlock", "bad_shuffle_mask": "bad shuffle mask",
    "uninitialised_shared": "uninitialised shared memory", "endless_loop": "endless loop",
    "launch_limit": "launch limit", "race_shared": "data race", "race_global": "data race",
    "assert_failed": "assertion failed",
}  # fmt: skip


def describe(fault: Fault, lines: LineMap) -> CandidateFault:
    """A kernel's fault: its kind first, then what happened, where, and on which line of the candidate."""
    kind = _KINDS[fault.kind.value]
    message = re.sub(r"\S+:(\d+)\b", lambda m: f"line {lines.line(int(m[1])) or m[1]}", fault.message)
    if not message.lower().startswith(kind):
        message = f"{kind}: {message}"
    where = [f"kernel {fault.kernel}"] if fault.kernel else []
    if fault.block is not None:
        where.append("block ({},{},{})".format(*fault.block))
    if fault.thread is not None:
        where.append("thread ({},{},{})".format(*fault.thread))
    line = lines.line(fault.line)
    if line:
        where.append(f"line {line}")
    status = "timed_out" if fault.kind.value == "endless_loop" else "launch_failed"
    return CandidateFault(status, clean(f"{message} [{', '.join(where)}]", 2 * MAX_MESSAGE), _shown(lines, line), line)


def place(fault: CandidateFault, line: int, path: str = "") -> CandidateFault:
    """The same fault with a line of the candidate, and its file in front of the message when there is a path."""
    if fault.line or not line:
        return fault
    name = "" if not path or fault.message.startswith(path) else f"{path}: "
    at = "" if re.search(r"\bline \d", fault.message) else f" (line {line})"
    return CandidateFault(fault.status, f"{name}{fault.message}{at}", fault.log, line)


_UNFIT = re.compile(
    r"no match for call to '\((?:simt::)?Launcher<void \(\*\)\((?P<takes>.*)\)>\) \((?P<given>.*)\)'"
    r"|no matching function for call to object of type '(?:simt::)?Launcher<void \(\*\)\((?P<takes_clang>.*)\)>'"
)


def reword(message: str, text: str = "") -> str:
    """A compiler's message about a launch whose arguments do not fit, in words of the candidate. text: its line."""
    match = _UNFIT.search(message)
    if match is None:
        return message
    name = re.search(r"\b([A-Za-z_]\w*)\s*(?:<[^<>;]*>)?\s*<<<|\bhipLaunchKernelGGL\s*\(\s*\(?\s*(\w+)", text)
    kernel = f"kernel '{name[1] or name[2]}'" if name else "the kernel"
    takes = match["takes"] if match["takes"] is not None else match["takes_clang"]
    given = "other arguments" if match["given"] is None else f"({match['given']})"
    return f"{message[: match.start()]}{kernel} takes ({takes}), the launch gives {given}{message[match.end() :]}"


_CRASH = re.compile(
    r"nvcc error\s*:\s*'(\w+)' (?:died due to signal \d+|core dumped)"
    r"|([\w./+-]*(?:g\+\+|gcc|c\+\+)[\d.-]*): internal compiler error: .*signal"
    r"|[^\s:]+:\d+(?::\d+)?: (internal compiler error): "
    r"|([\w./+-]*(?:clang|hipcc|c\+\+)[\w./+-]*): error: (?:clang frontend|linker|\w+) command failed "
    r"(?:due to signal|with exit code 1[3-9]\d\b)"
    r"|([\w./+-]+) ended by signal (?:4|6|7|8|11)\b"
)
"""A line in which a driver says that a part of it has crashed."""


def find_crash(log: str) -> str:
    """The compiler that has crashed by its log; "" where none has, or where the log tells of errors as well: what the
    source has it say may stand in it."""
    crashed = ""
    for line in log.splitlines():
        match = _CRASH.match(line)
        if match:
            crashed = crashed or next(word for word in match.groups() if word)
        elif re.search(r"\b(?:error|undefined reference)\b", line):
            return ""
    return crashed


def compile_fault(message: str, line: int | None, log: str, filename: str, lines: LineMap, path: str) -> CandidateFault:
    """A compiler's refusal; messages and log speak of the candidate's file and its lines. `unsupported` where it has
    not refused the source but crashed over it."""
    at = lines.line(line)
    crashed = find_crash(log)
    if crashed:
        problem = f"the compiler itself crashed over this source: {crashed}"
        return CandidateFault("unsupported", problem, renumber(log, filename, lines, path), 0)
    text = reword(re.sub(rf"^{re.escape(filename)}:(?:\d+:)?\s*", "", message), _shown(lines, at))
    where = f" (line {at})" if at else ""
    shown = renumber(log, filename, lines, path)
    return CandidateFault("compile_failed", clean(f"{text}{where}", 2 * MAX_MESSAGE), shown, at)


def renumber(log: str, filename: str, lines: LineMap, path: str) -> str:
    """A compiler's log with the candidate's file and lines in the place of the source's."""

    def place(match: re.Match[str]) -> str:
        line = lines.line(int(match[2] or match[3]))
        if not line:
            return match[0]
        return f"{path}:{line}" if match[2] else f"{path}({line})"

    pattern = rf"(?<![\w./])((?:[\w./-]*/)?{re.escape(filename)})(?::(\d+)|\((\d+)\))"
    return clean(re.sub(pattern, place, log), MAX_LOG)


def from_simt(error: SimtError, filename: str, lines: LineMap, path: str) -> CandidateFault:
    """The fault behind anything that the emulator raises."""
    from kengine import simt

    if isinstance(error, simt.KernelFault):
        return describe(error.fault, lines)
    if isinstance(error, simt.CompileError):
        return compile_fault(error.message, error.line, error.log, filename, lines, path)
    if isinstance(error, simt.Unsupported):
        line = lines.line(error.line)
        at = f" (line {line})" if line else ""
        return CandidateFault("unsupported", f"the emulator does not run {error.construct}{at}", line=line)
    if isinstance(error, simt.CompilerMissing):
        log = error.log if isinstance(error, simt.CompilerUnusable) else ""
        return CandidateFault("unsupported", clean(str(error), 2 * MAX_MESSAGE), clean(log, MAX_LOG))
    return CandidateFault("launch_failed", clean(str(error), 2 * MAX_MESSAGE))


def _shown(lines: LineMap, line: int) -> str:
    text = lines.candidate.split("\n")
    return f"line {line}: {text[line - 1].strip()[:200]}" if 0 < line <= len(text) else ""
