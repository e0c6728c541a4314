"""How Triton's small C modules are built: its launchers, one for each signature, in every process that launches one.

Up to Triton 3.6 each candidate waits for the C compiler at its first launch. Unoptimised, with the headers of Python
and the driver compiled ahead and without start files, the modules are built in a quarter of the time, and a launch
takes no longer that any clock here could tell: they hand a few numbers to the driver.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_FLAGS = ("-O0", "-pipe", "-fPIC", "-w")
_BARE = ("-nostartfiles", "-nostdlib")
_LIBRARIES = ("-lgcc",)
"""The compiler's own; those of C and Python are in the process that loads a module."""

_headers: dict[str, Path] = {}
"""Headers that were compiled ahead, by what decides about them; forks inherit this."""
_ahead: list[Path] = []
"""Where headers are compiled ahead; empty where they are not."""


def install() -> bool:
    """Have this process build them so; False where this Triton has no place for it, or no C compiler is found."""
    try:
        from triton import knobs
    except ImportError:
        return False
    if not hasattr(getattr(knobs, "build", None), "impl") or not _compiler():
        return False
    knobs.build.impl = build
    return True


def build(
    name: str,
    source: str,
    folder: str,
    library_dirs: Sequence[str],
    include_dirs: Sequence[str],
    libraries: Sequence[str],
) -> str:
    """Compile a C file into a module in `folder`; its path. Raises CalledProcessError with what the compiler says."""
    module = os.path.join(folder, f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}")
    places = [f"-I{path}" for path in (*include_dirs, folder, _python()) if path]
    linked = [f"-l:{lib}" if ".so" in lib or lib.endswith(".a") else f"-l{lib}" for lib in libraries]
    linked += [f"-L{path}" for path in library_dirs]
    start, end = [_compiler(), source, *_FLAGS, "-shared"], [*places, "-o", module, *linked]
    try:
        shared = [place for place in places if place != f"-I{folder}"]
        _run([*start, *_BARE, *_included(Path(source), shared), *end, *_LIBRARIES])
    except (OSError, subprocess.CalledProcessError):
        # A candidate must not pay for what only our way of building cannot do.
        _run([*start, *end])
    return module


@contextmanager
def compiling_ahead(folder: Path) -> Iterator[None]:
    """What is built meanwhile has its headers compiled ahead into `folder`, for builds that begin with the same."""
    _ahead.append(folder)
    try:
        yield
    finally:
        _ahead.clear()


def prelude(source: str) -> str:
    """The lines of a C file up to the last `#include` before anything that is no plain directive; "" without one."""
    kept: list[str] = []
    whole = 0
    for line in source.splitlines():
        text = line.strip()
        if text and (not text.startswith(("#include", "#define")) or text.endswith("\\")):
            break
        kept.append(text)
        if text.startswith("#include"):
            whole = len(kept)
    return "\n".join([*kept[:whole], ""]) if whole else ""


def _included(source: Path, places: Sequence[str]) -> list[str]:
    """Options that read a file's headers as compiled ahead; a compiler that cannot use them reads their text."""
    head = prelude(source.read_text(errors="replace"))
    if not head or not _is_gcc():
        return []
    key = hashlib.sha256(repr((_version(), _FLAGS, list(places), head)).encode()).hexdigest()[:16]
    if key not in _headers and _ahead:
        _headers[key] = _compile_ahead(head, places, _ahead[0] / key)
    return ["-include", str(_headers[key])] if key in _headers else []


def _compile_ahead(head: str, places: Sequence[str], folder: Path) -> Path:
    header = folder / "head.h"
    compiled = folder / "head.h.gch"
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    if not compiled.exists():
        header.write_text(head)
        part = folder / f"{os.getpid()}.part"
        _run([_compiler(), *_FLAGS, *places, "-x", "c-header", str(header), "-o", str(part)])
        os.replace(part, compiled)
    return header


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise subprocess.CalledProcessError(done.returncode, command, done.stdout)


def _python() -> str:
    scheme = sysconfig.get_default_scheme()
    return sysconfig.get_paths(scheme="posix_prefix" if scheme == "posix_local" else scheme)["include"]


@functools.lru_cache(maxsize=1)
def _version() -> str:
    done = subprocess.run([_compiler(), "--version"], capture_output=True, text=True, check=False)
    return done.stdout


def _is_gcc() -> bool:
    return "Free Software Foundation" in _version()


def _compiler() -> str:
    return os.environ.get("CC") or shutil.which("gcc") or shutil.which("clang") or shutil.which("cc") or ""
