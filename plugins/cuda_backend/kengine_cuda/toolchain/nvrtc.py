"""NVRTC, NVIDIA's compiler as a library: no driver and no device needed. Called by ctypes, so that the library of a
pip package and that of a toolkit serve alike."""

from __future__ import annotations

import ctypes as c
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Compiled:
    """What a compile gave: the binary for one architecture, the log, and the mangled name of each name asked for."""

    binary: bytes
    log: str
    lowered: Mapping[str, str] = field(default_factory=dict)


class NvrtcError(Exception):
    """The source does not compile; `log` says why."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


@functools.lru_cache(maxsize=2)
def load(path: str) -> c.CDLL:
    """Load the library. Raises OSError."""
    library = c.CDLL(path)
    library.nvrtcGetErrorString.restype = c.c_char_p
    return library


def version(path: str) -> tuple[int, int]:
    """Release of the library."""
    major, minor = c.c_int(), c.c_int()
    load(path).nvrtcVersion(c.byref(major), c.byref(minor))
    return major.value, minor.value


def compile_source(
    path: str, source: str, filename: str, options: Sequence[str], names: Sequence[str], headers: Mapping[str, str]
) -> Compiled:
    """Compile to a binary. names: kernels, with template arguments, whose mangled names are wanted; naming a template's
    instance makes it. headers: texts that are found by #include without a file. Raises NvrtcError."""
    library = load(path)
    program = c.c_void_p()
    texts = [text.encode() for text in headers.values()]
    keys = [key.encode() for key in headers]
    _check(library, library.nvrtcCreateProgram(
        c.byref(program), source.encode("utf-8", "replace"), filename.encode("utf-8", "replace"), len(texts),
        (c.c_char_p * max(1, len(texts)))(*texts), (c.c_char_p * max(1, len(keys)))(*keys),
    ))  # fmt: skip
    try:
        for name in names:
            _check(library, library.nvrtcAddNameExpression(program, name.encode()))
        encoded = [option.encode() for option in options]
        code = library.nvrtcCompileProgram(program, len(encoded), (c.c_char_p * max(1, len(encoded)))(*encoded))
        log = _text(library, program, "ProgramLog")
        if code != 0:
            raise NvrtcError(library.nvrtcGetErrorString(code).decode(), log)
        lowered = {}
        for name in names:
            mangled = c.c_char_p()
            if library.nvrtcGetLoweredName(program, name.encode(), c.byref(mangled)) == 0 and mangled.value:
                lowered[name] = mangled.value.decode()
        return Compiled(_bytes(library, program, "CUBIN"), log, lowered)
    finally:
        library.nvrtcDestroyProgram(c.byref(program))


def _check(library: c.CDLL, code: int) -> None:
    if code != 0:
        raise NvrtcError(library.nvrtcGetErrorString(code).decode(), "")


def _bytes(library: c.CDLL, program: c.c_void_p, what: str) -> bytes:
    size = c.c_size_t()
    _check(library, getattr(library, f"nvrtcGet{what}Size")(program, c.byref(size)))
    buffer = c.create_string_buffer(max(1, size.value))
    _check(library, getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw[: size.value]


def _text(library: c.CDLL, program: c.c_void_p, what: str) -> str:
    return _bytes(library, program, what).rstrip(b"\0").decode(errors="replace")
