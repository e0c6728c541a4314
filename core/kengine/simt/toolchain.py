"""The machine's C++ compiler: which one, with what flags, and the parts that are built once for all candidates."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import platform
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kengine.simt import processes
from kengine.simt.fault import CompileError, CompilerMissing, CompilerUnusable

SOURCES = Path(__file__).resolve().parent / "cpp"
VARIABLE = "KENGINE_SIMT_CXX"
"""Environment variable that names the compiler."""
COMPILE_SECONDS = 300
_VERSION_SECONDS = 60
_ADVICE = "install another g++ or clang++, or name one in KENGINE_SIMT_CXX"

_LANGUAGE = (
    "-std=c++17",
    "-fPIC",
    "-w",
    "-g1",
    "-fvisibility=hidden",
    "-U_FORTIFY_SOURCE",
    "-UNDEBUG",
    "-pipe",
    "-fno-threadsafe-statics",
)
# The devices' arithmetic: contraction to fused multiply-add, no traps, no errno; wrapping integers; punning allowed.
_ARITHMETIC = (
    "-march=native",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-fno-trapping-math",
    "-fwrapv",
    "-fno-strict-aliasing",
)
_STACK = ("-fstack-clash-protection", "-fno-finite-loops")
# Passes that checked code gains nothing from, and vectors whose registers take time to describe.
_PASSES = (
    "tree-sra", "tree-ch", "tree-copy-prop", "tree-dse", "dse", "branch-count-reg", "forward-propagate", "compare-elim",
    "cprop-registers", "if-conversion", "if-conversion2", "shrink-wrap", "reorder-blocks", "tree-pta", "tree-bit-ccp",
    "ssa-phiopt", "tree-ter",
)  # fmt: skip
_SMALL = (*(f"-fno-{name}" for name in _PASSES), "-mno-avx512f")
_WRAPPED = ("printf", "vprintf", "__assert_fail", "malloc", "free", "abort")
_WRAPPED_IN_CHECK = (*_WRAPPED, "memcpy", "memmove", "memset")


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler: its command, whether it is a clang, and its version text."""

    command: tuple[str, ...]
    is_clang: bool
    version: str


@functools.lru_cache(maxsize=1)
def find_compiler() -> Compiler:
    """The compiler named by KENGINE_SIMT_CXX, else g++, clang++, c++ or the one of the package `ziglang`.

    CompilerMissing if there is none, CompilerUnusable if it does not tell its version. (The variable CXX is not asked:
    candidates set it.)
    """
    return _describe(locate_compiler())


def locate_compiler() -> tuple[str, ...]:
    """The command of that compiler, without running it. Raises CompilerMissing."""
    named = os.environ.get(VARIABLE)
    tried = [named] if named else ["g++", "clang++", "c++"]
    for name in tried:
        path = shutil.which(name)
        if path:
            return (os.path.abspath(path),)
    if not named and importlib.util.find_spec("ziglang") is not None:
        import sys

        return (sys.executable, "-m", "ziglang", "c++")
    raise CompilerMissing(
        f"no C++ compiler found (looked for {', '.join(tried)} and the package ziglang); "
        "install g++ or clang++, `pip install ziglang`, or name one in KENGINE_SIMT_CXX"
    )


def choice() -> dict[str, str]:
    """The variable that names the compiler, for processes that start in another folder; empty where none is named."""
    named = os.environ.get(VARIABLE)
    path = shutil.which(named) if named else None
    return {VARIABLE: os.path.abspath(path) if path else named} if named else {}


def _describe(command: tuple[str, ...]) -> Compiler:
    asked = [*command, "--version"]
    try:
        done = subprocess.run(
            asked, capture_output=True, text=True, errors="replace", timeout=_VERSION_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerUnusable(f"{' '.join(asked)} failed: {error}; {_ADVICE}") from None
    if done.returncode:
        raise CompilerUnusable(f"{' '.join(asked)} failed: {done.stderr.strip()[:300]}; {_ADVICE}", done.stderr)
    return Compiler(command, "clang" in done.stdout, done.stdout.strip())


def unusable(error: CompileError) -> CompilerUnusable:
    """What to raise when the machine's compiler has refused code of kengine's own."""
    compiler = find_compiler()
    full = re.search(r"No space left on device|Disk quota exceeded", error.log)
    if full:
        text = f"{full[0]}: {' '.join(compiler.command)} could not write what it built; make room on the disk"
        return CompilerUnusable(text, error.log)
    said = re.search(r"(?:error|undefined reference|cannot)\b.*", error.log) or re.search(r"\S.*", error.log)
    reason = said[0][:300] if said else error.message
    name = f"{' '.join(compiler.command)} ({compiler.version.partition(chr(10))[0]})"
    return CompilerUnusable(f"{name} does not build kengine's own code: {reason}; {_ADVICE}", error.log)


@functools.lru_cache(maxsize=1)
def small_flags() -> tuple[str, ...]:
    """Those flags that make a g++ compile checked code faster that this one knows, asked once in a process."""
    return _SMALL if _takes(_SMALL) else tuple(flag for flag in _SMALL if _takes((flag,)))


def _takes(flags: Sequence[str]) -> bool:
    command = [*find_compiler().command, "-march=native", *flags, "-fsyntax-only", "-x", "c++", os.devnull]
    return subprocess.run(command, capture_output=True, timeout=COMPILE_SECONDS, check=False).returncode == 0


@functools.lru_cache(maxsize=1)
def identity() -> str:
    """A digest of what decides the compiler's output besides the candidate: compiler, processor, our sources."""
    digest = hashlib.sha256(find_compiler().version.encode())
    digest.update(platform.machine().encode())
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as f:
        digest.update(
            "".join(sorted({line for line in f if line.startswith(("flags", "model name", "Features"))})).encode()
        )
    for path in sorted(SOURCES.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(SOURCES)).encode() + path.read_bytes())
    for module in ("toolchain.py", "alignment.py", "attribution.py", "standing.py"):
        digest.update(Path(__file__).with_name(module).read_bytes())
    return digest.hexdigest()


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file: one process builds, the others wait."""
    import fcntl

    with open(path, "w", encoding="utf-8") as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        yield


def run(command: Sequence[str], directory: Path, seconds: float | None = None) -> str:
    """Run a compiler command; its messages. CompileError with them when it fails or computes longer than `seconds`
    (COMPILE_SECONDS), InfraError when it has not finished because the machine gave it too little processor time,
    CompilerUnusable when it cannot be started."""
    try:
        process = processes.start(command, directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise CompilerUnusable(f"cannot start the compiler {command[0]}: {error.strerror}; {_ADVICE}") from None
    with process:
        out, messages = processes.end(process, COMPILE_SECONDS if seconds is None else seconds)
    if process.returncode:
        raise CompileError("compilation failed", None, messages + out or _tell_end(command[0], process.returncode))
    return messages


def _tell_end(program: str, code: int) -> str:
    how = f"by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"with exit code {code}"
    return f"{program} ended {how} and said nothing\n"


def run_own(command: Sequence[str], directory: Path) -> str:
    """Run a compiler command over files of kengine's own, in which no candidate has a part; its messages.

    CompilerUnusable when it fails, InfraError when the machine gave it too little processor time.
    """
    try:
        return run(command, directory)
    except CompileError as error:
        raise unusable(error) from None


def runtime_library(cache: Path) -> Path:
    """The runtime library, built into the cache at first use (about 3 s). Raises CompilerUnusable."""
    library = cache / f"libkengine_simt_{identity()[:16]}.so"
    if library.exists():
        return library
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / "runtime.lock"):
        if library.exists():
            return library
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            out = Path(temporary) / library.name
            libraries = ["-Wl,--no-as-needed", "-lm", "-ldl", "-lrt", "-lpthread"]
            command = [*find_compiler().command, "-O2", *_LANGUAGE, "-fno-strict-aliasing", "-shared"]
            command += [f"-Wl,-soname,{library.name}", str(SOURCES / "runtime" / "runtime.cpp"), "-o", str(out)]
            run_own([*command, *libraries], Path(temporary))
            os.replace(out, library)
    return library


@dataclass(frozen=True)
class Mode:
    """What a program is compiled for."""

    lanes: int
    hip: bool
    check: bool
    lockstep: bool  # volatile accesses are hooked, so that lanes of a warp take them together

    @property
    def instrumented(self) -> bool:
        return self.check or self.lockstep

    def flags(self) -> list[str]:
        """Compiler flags of this mode; a precompiled header serves exactly one such set."""
        clang = find_compiler().is_clang
        out = [*_LANGUAGE, *_ARITHMETIC, *_STACK, f"-DSIMT_LANES={self.lanes}"]
        if not self.instrumented:
            out.append("-O3")
        elif clang:
            out.append("-O2")
        else:
            # Hooks take the time of checked code, not its instructions: it compiles 15 % faster so. The second brings
            # contraction to fused multiply-add.
            out += ["-O1", "-fexpensive-optimizations", *small_flags()]
        if not clang:
            out += ["-fno-semantic-interposition", "-fno-hoist-adjacent-loads"]
        if self.hip:
            out.append("-DSIMT_HIP")
        if self.instrumented:
            out.append("-fsanitize=thread")
            if not clang:  # which would expand these behind the instrumentation
                out += ["-fno-builtin-memset", "-fno-builtin-memcpy", "-fno-builtin-memmove"]
            out += (
                ["-mllvm", "-tsan-instrument-func-entry-exit=0"]
                if clang
                else ["--param=tsan-instrument-func-entry-exit=0"]
            )
        if self.lockstep:
            out += ["-mllvm", "-tsan-distinguish-volatile=1"] if clang else ["--param=tsan-distinguish-volatile=1"]
        if self.check:
            out.append("-DSIMT_CHECK")
            # Past the driver of clang, which some distributions make drop these again.
            checks = "-fsanitize={},alignment,null,integer-divide-by-zero"
            out += ["-Xclang", checks.format("array-bounds")] if clang else [checks.format("bounds")]
        return out

    def link_flags(self, runtime: Path) -> list[str]:
        """Linker flags: the sanitizers' libraries are never linked, their hooks are the runtime's."""
        wrapped = _WRAPPED_IN_CHECK if self.check else _WRAPPED
        flags = ["-shared", "-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,-rpath,$ORIGIN", *(f"-Wl,--wrap={w}" for w in wrapped)]
        if find_compiler().is_clang:
            # Zig links a sanitizer library of its own into what looks like a debug build; ours must answer.
            return ["-O2", "-fno-sanitize=undefined", *flags, str(runtime)]
        # No start files, no libraries but the compiler's own: the runtime brings the others. Linking takes 10 ms.
        return [*flags, "-nostdlib", "-nostartfiles", str(runtime), "-lgcc"]


def precompiled_header(mode: Mode, cache: Path) -> Path:
    """The header to include by force, with a precompiled form next to it, built at first use (some seconds).

    Raises CompilerUnusable.
    """
    flags = mode.flags()
    key = hashlib.sha256(repr((identity(), flags)).encode()).hexdigest()[:16]
    directory = cache / f"header-{key}"
    header = directory / "simt.h"
    compiled = directory / ("simt.h.pch" if find_compiler().is_clang else "simt.h.gch")
    if compiled.exists():
        return header
    directory.mkdir(parents=True, exist_ok=True)
    with locked(cache / f"header-{key}.lock"):
        if not compiled.exists():
            header.write_text(f'#include "{SOURCES / "simt" / "simt.h"}"\n', encoding="utf-8")
            part = compiled.with_suffix(".part")
            run_own([*find_compiler().command, *flags, "-x", "c++-header", str(header), "-o", str(part)], directory)
            os.replace(part, compiled)
    return header
