"""From a compiler's messages to the fault of a candidate: the first error, its line, what differs from CUDA."""

from __future__ import annotations

import re

from kengine.errors import CandidateFault
from kengine.native.driver import Unit
from kengine.native.faults import compile_fault

from kengine_hip.chips import Chip
from kengine_hip.differences import find_differences
from kengine_hip.source import is_cuda

_UNSUPPORTED = (
    (r"'(?:cutlass|cute|ck|ck_tile|hipcub|rocprim|rocwmma|hipblas|rocblas|miopen|thrust|cub|cublas\w*|cudnn\w*|cufft\w*"
     r"|hiprand|hiprand_kernel|curand|curand_kernel|mma)[\w/]*\.(?:h|hpp|cuh|hxx)' file not found",
     "a library's header"),
)  # fmt: skip


def explain(log: str, unit: Unit, chip: Chip, path: str) -> CandidateFault:
    """The fault behind a refusal: compile_failed with the candidate's line; unsupported for a library's header that
    the packages here do not bring."""
    message, line = first_error(log, unit.filename)
    for pattern, what in _UNSUPPORTED:
        missing = re.search(rf"fatal error: {pattern}", log)
        if missing:
            name = missing.group(0).split("'")[1]
            place = unit.lines.line(line)
            return CandidateFault(
                "unsupported", f"compiling for {chip.arch} here has no {name}: {what} of its own"
                + (f" (line {place})" if place else ""), line=place,
            )  # fmt: skip
    if is_cuda(unit.text):
        differs = "; ".join(f"line {unit.lines.line(n) or n}: {text}" for n, text in find_differences(unit.text))
        message += f" -- this is CUDA text, compiled as HIP for {chip.arch}" + (f"; {differs}" if differs else "")
    elif line and (hints := [text for n, text in find_differences(unit.text) if n == line]):
        message += f" -- {hints[0]}"
    return compile_fault(message, line, log, unit.filename, unit.lines, path)


def first_error(log: str, filename: str) -> tuple[str, int | None]:
    """The first error's text, and the line of the source that it is about: its own, or the one that led to it."""
    name = re.escape(filename)
    first = re.search(r"^(?:(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? )?(?:fatal )?error: (?P<text>[^\n]*)", log, re.M)
    if first is None:
        return (log.strip().splitlines() or ["the compiler gave no message"])[-1], None
    message = f"error: {first['text']}"
    if first["file"] and re.fullmatch(rf"(?:.*/)?{name}", first["file"]):
        return message, int(first["line"])
    # In a header: the notes behind it, or the includes in front of it, lead back to the candidate.
    behind = re.search(rf"^(?:[^\n:]*/)?{name}:(\d+):", log[first.end() :], re.M)
    before = re.findall(rf"(?:from|included from) (?:[^\n:]*/)?{name}:(\d+)", log[: first.start()])
    line = int(before[-1]) if before else int(behind.group(1)) if behind else None
    return message, line
