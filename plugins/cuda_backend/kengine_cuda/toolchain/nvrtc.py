"""NVRTC, NVIDIA's compiler as a library: no driver and no device needed. Called by ctypes, so that the library of a
pip package and that of a toolkit serve alike, and in a process of its own (`nvrtc_process`), whose end is not the
candidate's."""

from __future__ import annotations

import contextlib
import marshal
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kengine.simt import processes

PROGRAM = Path(__file__).with_name("nvrtc_process.py")
_TRIES = 2
"""A process that ends may have been ended by somebody; one that ends again over the same source was not."""


@dataclass(frozen=True)
class Compiled:
    """What a compile gave: the binary for one architecture, the log, the mangled name of each name asked for, and the
    library's release."""

    binary: bytes
    log: str
    lowered: Mapping[str, str] = field(default_factory=dict)
    release: tuple[int, int] = (0, 0)


class NvrtcError(Exception):
    """The source does not compile; `log` says why."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(message)
        self.log = log


class NvrtcCrashed(Exception):
    """The compiler has ended its process over the source, in which nothing else has run."""


class Compiler:
    """One process with the library at `path` loaded; it ends with `close`, or with the process that made it.

    Its environment is that of the moment in which it is made.
    """

    def __init__(self, path: str, environment: Mapping[str, str] | None = None) -> None:
        self.path = path
        self._environment = dict(os.environ if environment is None else environment)
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, request: tuple[object, ...]) -> tuple[bytes, bytes, bytes, dict[bytes, bytes], tuple[int, int]]:
        """The answer to one request. Raises NvrtcCrashed."""
        process = self._process = self._process or self._start()
        assert process.stdin is not None and process.stdout is not None
        text = marshal.dumps(request)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(len(text).to_bytes(8, "little") + text)
            process.stdin.flush()
        size = process.stdout.read(8)
        answer = process.stdout.read(int.from_bytes(size, "little")) if len(size) == 8 else b""
        if not answer:
            raise self._ended()
        problem, log, binary, lowered, release = marshal.loads(answer)
        return problem, log, binary, lowered, release

    def close(self) -> None:
        """End the process. Safe to call again."""
        process, self._process = self._process, None
        if process is not None:
            processes.kill(process)

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-I", "-S", str(PROGRAM), self.path]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(command, cwd="/", env=self._environment, **streams)  # type: ignore[call-overload,no-any-return]

    def _ended(self) -> NvrtcCrashed:
        assert self._process is not None
        code = self._process.wait()
        self.close()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return NvrtcCrashed(f"NVRTC ({Path(self.path).name}) itself crashed over this source: its process ended {how}")


_kept: Compiler | None = None
_lock = threading.Lock()


@contextlib.contextmanager
def keeping(path: str) -> Iterator[None]:
    """Inside the block, compile all sources in one process, with the environment of the block's beginning: enter it
    before the candidate is loaded."""
    global _kept
    before, made = _kept, Compiler(path)
    _kept = made
    try:
        yield
    finally:
        _kept = before
        made.close()


def compile_source(
    path: str, source: str, filename: str, options: Sequence[str], names: Sequence[str], headers: Mapping[str, str]
) -> Compiled:
    """Compile to a binary. names: kernels, with template arguments, whose mangled names are wanted; naming a template's
    instance makes it. headers: texts that are found by #include without a file.

    Raises NvrtcError, NvrtcCrashed.
    """
    request = (
        source.encode("utf-8", "replace"), filename.encode("utf-8", "replace"), [o.encode() for o in options],
        [name.encode() for name in names], {key.encode(): text.encode() for key, text in headers.items()},
    )  # fmt: skip
    problem, log, binary, lowered, release = _ask(path, request)
    told = log.decode(errors="replace")
    if problem:
        raise NvrtcError(problem.decode(), told)
    return Compiled(binary, told, {name.decode(): symbol.decode() for name, symbol in lowered.items()}, release)


def _ask(path: str, request: tuple[object, ...]) -> tuple[bytes, bytes, bytes, dict[bytes, bytes], tuple[int, int]]:
    kept = _kept if _kept is not None and _kept.path == path else None
    compiler = kept or Compiler(path)
    with _lock:  # a process answers one after another
        try:
            for left in reversed(range(_TRIES)):
                try:
                    return compiler.ask(request)
                except NvrtcCrashed:
                    if not left:
                        raise
        finally:
            if kept is None:
                compiler.close()
    raise AssertionError("unreachable")
