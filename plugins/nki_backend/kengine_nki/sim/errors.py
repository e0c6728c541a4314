"""Errors of the interpreter, and finding the kernel's own line in a traceback."""

from __future__ import annotations

import linecache
import os
from types import TracebackType
from typing import Any

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class NkiError(Exception):
    """A fault of the kernel, worded as the official tool words it.

    Attributes: `message` (str), `file` (str or None), `line` (int or None), `text` (the stripped source line or
    None). `str()` joins them.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message
        self.file: str | None = None
        self.line: int | None = None
        self.text: str | None = None

    def place(self, file: str | None, line: int | None) -> None:
        """Remember where in the kernel's source the fault arose, unless already known."""
        if file is not None and line is not None and self.line is None:
            self.file, self.line = file, line
            self.text = linecache.getline(file, line).strip() or None

    def __str__(self) -> str:
        if self.line is None:
            return self.message
        where = f"{self.file}:{self.line}: {self.message}"
        return f"{where}\n    {self.text}" if self.text else where


class RunFault(NkiError):
    """A fault of a kernel that may compile and goes wrong when it runs: memory out of bounds, never written where it
    must be, programs that wait for each other."""


class UnknownName(NkiError, AttributeError):
    """A name that the API does not have; also an AttributeError, so that `hasattr` answers False."""


class Unsupported(NkiError):
    """A function or construct that the interpreter cannot judge; `name` says which. Not a fault of the kernel."""

    def __init__(self, name: str, why: str = "") -> None:
        super().__init__(f"{name} is not supported by the interpreter" + (f": {why}" if why else ""))
        self.name = name


class BudgetExceeded(NkiError):
    """The kernel ran more instructions than allowed; `instructions` says how far it came."""

    def __init__(self, instructions: int, budget: int, kernel: str) -> None:
        super().__init__(
            f"kernel `{kernel}` came to {instructions} instructions, the whole budget of {budget}, without ending: "
            "it may never end, or the shapes are too large for the interpreter"
        )
        self.instructions = instructions
        self.budget = budget


class KnockedOut(Exception):
    """Raised instead of running a kernel while `session.knockout` is "raise"."""


def check(condition: object, message: str) -> None:
    """Raise NkiError(message) unless `condition` holds."""
    if not condition:
        raise NkiError(message)


def kernel_frame(trace: TracebackType | None, sources: set[str]) -> tuple[str, int] | None:
    """(file, line) of the deepest frame of `trace` in one of `sources`, else of the deepest outside this package."""
    own: tuple[str, int] | None = None
    other: tuple[str, int] | None = None
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name in sources:
            own = (name, trace.tb_lineno)
        elif not name.startswith(PACKAGE) and not name.startswith("<frozen"):
            other = (name, trace.tb_lineno)
        trace = trace.tb_next
    return own or other


def caller_line(frame: Any) -> tuple[str, int] | None:
    """(file, line) of the nearest frame at or above `frame` that lies outside this package."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(PACKAGE):
            return name, frame.f_lineno
        frame = frame.f_back
    return None
