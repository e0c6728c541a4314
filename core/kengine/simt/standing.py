"""A compiler that is started before its source is there: it reads the headers while the candidate is still imported.

Only where the driver is a g++, whose parts are started themselves. The source comes through the compiler's standard
input; what this way does not compile is compiled again through the driver, whose messages are the ones to show.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kengine.errors import KengineError
from kengine.simt import parts, processes, toolchain
from kengine.simt.fault import CompileError
from kengine.simt.toolchain import SOURCES, Mode, precompiled_header

_INPUT = "/dev/stdin"
# What stands for paths in questions to the driver; none could be the name of a macro.
_HEADER, _SOURCE, _FOLDER, _RUNTIME = "a-header.h", "a-source.cu", "a-folder-", "a-runtime.so"
_PIPE_BYTES = 1 << 15
"""What a pipe takes without being read: Linux's take twice as much, but for a user who has very many."""
_waiting: list[Standing] = []


class Standing:
    """One compiler and its assembler, which wait for one source. `end` or `discard` must follow."""

    def __init__(self, front: Sequence[str], back: Sequence[str], directory: Path, wanted: object) -> None:
        self.wanted = wanted
        self.directory = directory
        self._assembler = back
        # The messages are not read, but their end tells at once that a process has ended.
        pipe = subprocess.PIPE
        self._front = processes.start(front, directory, stdin=pipe, stdout=pipe, stderr=pipe)
        self._back: subprocess.Popen[bytes] | None = None

    def end(self, prelude: str, text: str, filename: str) -> Path | None:
        """Compile: the object file, None when it did not compile. Raises CompileError or InfraError when it takes too
        long."""
        name = filename.replace("\\", r"\\").replace('"', r"\"")
        whole = f'{prelude}# 1 "{name}"\n{text}'.encode(errors="surrogateescape")
        front, pipe = self._front, subprocess.PIPE
        assert front.stdin is not None and front.stdout is not None
        if len(whole) <= _PIPE_BYTES:  # taken at once, so that the compiler works while the assembler is started
            with contextlib.suppress(BrokenPipeError):
                front.stdin.write(whole)
                front.stdin.flush()
            whole = b""
        self._back = processes.start(
            self._assembler, self.directory, stdin=front.stdout, stdout=subprocess.DEVNULL, stderr=pipe
        )
        front.stdout.close()
        front.stdout = None
        processes.end(front, toolchain.COMPILE_SECONDS, whole)
        processes.end(self._back, toolchain.COMPILE_SECONDS)
        return self.directory / "unit.o" if front.returncode == self._back.returncode == 0 else None

    def discard(self) -> None:
        """End both processes, and remove what they have made."""
        processes.kill(self._front)
        if self._back is not None:
            processes.kill(self._back)
        shutil.rmtree(self.directory, ignore_errors=True)


@contextlib.contextmanager
def started(filename: str, mode: Mode, options: Sequence[str], cache: Path) -> Iterator[None]:
    """Inside the block, a compiler stands ready for one source of this name and mode and with these options."""
    with contextlib.suppress(KengineError):  # whoever builds will meet it again, and tell
        made = _start(filename, mode, options, cache)
        if made is not None:
            _waiting.append(made)
    try:
        yield
    finally:
        while _waiting:
            _waiting.pop().discard()


def compile_source(
    prelude: str, text: str, filename: str, mode: Mode, options: Sequence[str], runtime: Path, cache: Path
) -> Path | None:
    """The linked program, in a folder that the caller removes; None where this way does not do, whatever the cause.

    Raises CompileError or InfraError when it takes too long.
    """
    ready = _waiting.pop() if _waiting else None
    if ready is not None and ready.wanted != _wanted(filename, mode, options, cache):
        ready.discard()
        ready = None
    ready = ready or _start(filename, mode, options, cache)
    if ready is None:
        return None
    done = None
    try:
        if ready.end(prelude, text, filename) is not None:
            done = _link(ready.directory, mode, runtime)
    except OSError:  # a process that cannot be started: the driver's failure will say why
        return None
    finally:
        if done is None:
            ready.discard()
    return done


def _wanted(filename: str, mode: Mode, options: Sequence[str], cache: Path) -> object:
    return filename, mode, tuple(options), cache


def _start(filename: str, mode: Mode, options: Sequence[str], cache: Path) -> Standing | None:
    """A compiler that waits; None where there is none that can.

    It compiles an empty file of the source's name, in front of which it includes its input: line tables name the file
    that is compiled.
    """
    if filename.startswith("-"):
        return None
    header = precompiled_header(mode, cache)
    places = {_HEADER: str(header), _SOURCE: filename}
    given = []
    for number, option in enumerate(options):
        folder = re.match(r"-I(.+)\Z", option, re.DOTALL)
        if folder:
            places[f"{_FOLDER}{number}"] = folder[1]
        given.append(f"-I{_FOLDER}{number}" if folder else option)
    command = [*mode.flags(), "-include", _HEADER, "-include", _INPUT]
    command += [f"-I{SOURCES / 'simt'}", f"-I{SOURCES / 'include'}", *given, "-x", "c++", _SOURCE, "-o", "unit.o"]
    found = parts.name_parts(command, places)
    if found is None or not Path(_INPUT).exists():
        return None
    directory = Path(tempfile.mkdtemp(dir=cache))
    try:
        (directory / filename).write_text("")
        return Standing(*found, directory, _wanted(filename, mode, options, cache))
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)
        return None


def _link(directory: Path, mode: Mode, runtime: Path) -> Path | None:
    options = ["unit.o", "-o", "unit.so", *mode.link_flags(Path(_RUNTIME))]
    command = parts.name_linker(options, {_RUNTIME: str(runtime)})
    if command is None:
        return None
    try:
        toolchain.run(command, directory)
    except CompileError:
        return None
    return directory / "unit.so"
