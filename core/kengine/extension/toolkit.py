"""What all extensions share and what is built once: the glue library and the precompiled headers."""

from __future__ import annotations

import contextlib
import ctypes as c
import functools
import hashlib
import os
import re
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kengine.errors import CandidateFault
from kengine.extension.settings import Settings
from kengine.runner import wishes
from kengine.simt import toolchain
from kengine.simt.toolchain import Mode, find_compiler, locked, run_own

ROOT = Path(__file__).resolve().parent
INCLUDE = (f"-I{ROOT / 'include'}", f"-I{ROOT / 'device'}", f"-I{ROOT}")
_EXPORTED_FUNCTIONS = (
    "simt_allocate_aligned",
    "simt_free",
    "simt_register_memory",
    "simt_forget_memory",
    "simt_holds_memory",
)


@functools.lru_cache(maxsize=1)
def torch_folder() -> Path:
    """Where torch is installed."""
    import torch

    return Path(torch.__file__).resolve().parent


def torch_include() -> list[str]:
    """Options for torch's and Python's headers. CandidateFault (unsupported) when Python's are not installed."""
    folder = torch_folder() / "include"
    python = Path(sysconfig.get_paths()["include"])
    if not (python / "Python.h").exists():
        raise CandidateFault("unsupported", f"torch's own headers need Python's, and {python} has no Python.h")
    return ["-isystem", str(folder), "-isystem", str(folder / "torch/csrc/api/include"), "-isystem", str(python)]


@functools.lru_cache(maxsize=1)
def language() -> str:
    """The C++ of torch's headers: they say so by an #error for an older one."""
    header = torch_folder() / "include" / "ATen" / "ATen.h"
    text = header.read_text(errors="replace") if header.exists() else ""
    return "c++20" if "C++20" in text else "c++17"


@functools.lru_cache(maxsize=1)
def definitions() -> tuple[str, ...]:
    """Macros for what differs between versions of torch: AT_DISPATCH_* of older ones take `x.type()`."""
    header = torch_folder() / "include" / "ATen" / "Dispatch.h"
    text = header.read_text(errors="replace") if header.exists() else "DeprecatedTypeProperties"
    return () if "DeprecatedTypeProperties" in text else ("-DLIGHT_DISPATCH_BY_SCALAR_TYPE",)


@functools.lru_cache(maxsize=256)
def is_declared(name: str) -> bool:
    """Whether torch's own headers have a word; those that their macros paste together count by their form."""
    if re.fullmatch(r"(?:k|to|is)[A-Z]\w*", name):
        return True
    word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
    return any(word.search(path.read_bytes()) for path in (torch_folder() / "include").rglob("*.h"))


@functools.lru_cache(maxsize=256)
def is_macro(name: str) -> bool:
    """Whether torch's own headers, those that extensions include, define a macro of this name."""
    if not re.fullmatch(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+", name):
        return False
    definition = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+" + re.escape(name.encode()) + rb"\b", re.M)
    folder = torch_folder() / "include"
    kinds = ("c10/**/*.h", "torch/headeronly/**/*.h", "ATen/*.h", "ATen/core/*.h", "ATen/cuda/**/*.h")
    return any(definition.search(path.read_bytes()) for kind in kinds for path in folder.glob(kind))


@functools.lru_cache(maxsize=1)
def identity() -> str:
    """A digest of compiler, processor, emulator, torch and the files of this package."""
    import torch

    digest = hashlib.sha256(f"{toolchain.identity()} {torch.__version__} {torch_folder()}".encode())
    for path in sorted(ROOT.rglob("*")):
        if path.suffix in (".h", ".cpp", ".cuh", ".py"):
            digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()


def glue_library(tools: Path) -> Path:
    """The library between extensions, torch and Python, built at first use (some seconds)."""
    library = tools / f"libkengine_light_{identity()[:16]}.so"
    folder = torch_folder() / "lib"
    source = ["-std=c++17", f"-I{ROOT}", str(ROOT / "glue" / "glue.cpp")]
    return _make(library, [*source, f"-L{folder}", "-ltorch_cpu", f"-Wl,-rpath,{folder}", "-ldl"])


def allocator_library(tools: Path) -> Path:
    """The library that puts what torch allocates in an extension into the emulator's memory, built at first use."""
    library = tools / f"libkengine_allocator_{identity()[:16]}.so"
    folder = torch_folder()
    options = [f"-std={language()}", f"-I{folder / 'include'}", str(ROOT / "glue" / "allocator.cpp")]
    return _make(library, [*options, f"-L{folder / 'lib'}", "-lc10", f"-Wl,-rpath,{folder / 'lib'}"])


def _make(library: Path, options: Sequence[str]) -> Path:
    """Build a shared library, once and by one process."""
    if library.exists():
        return library
    library.parent.mkdir(parents=True, exist_ok=True)
    common = ["-O2", "-fPIC", "-w", "-fvisibility=hidden", "-shared", f"-Wl,-soname,{library.name}"]
    with locked(library.parent / "glue.lock"):
        if not library.exists():
            with tempfile.TemporaryDirectory(dir=library.parent) as temporary:
                out = Path(temporary) / library.name
                run_own([*find_compiler().command, *common, *options, "-o", str(out)], Path(temporary))
                os.replace(out, library)
    return library


_glue: dict[str, c.PyDLL] = {}


def load_glue(library: Path) -> c.PyDLL:
    """The glue library of this process. One copy serves every folder that holds it: extensions are bound to the first
    that was loaded under its name, which tells its content."""
    if library.name in _glue:
        return _glue[library.name]
    import torch

    import kengine.extension.operators

    del torch, kengine
    glue = c.PyDLL(str(library), mode=c.RTLD_GLOBAL)
    glue.light_emulate.restype = None
    glue.light_emulate.argtypes = [c.POINTER(c.c_void_p), c.c_size_t]
    glue.light_name_parameters.argtypes = [c.py_object, c.c_char_p]
    glue.light_remember.argtypes = [c.py_object, c.c_char_p]
    glue.light_remember.restype = glue.light_forget.restype = None
    glue.light_forget.argtypes = []
    _glue[library.name] = glue
    return glue


_connected: list[object] = []


def connect(glue: c.PyDLL, settings: Settings, runtime: c.CDLL | None) -> None:
    """Give the glue library and torch's allocator the emulator's memory functions, or none for a device."""
    wanted = [glue, settings.check, runtime]
    if _connected == wanted:
        return
    _connected[:] = wanted
    if runtime is None:
        glue.light_emulate(None, 0)
        return
    addresses = [c.cast(getattr(runtime, name), c.c_void_p).value for name in _EXPORTED_FUNCTIONS]
    table = (c.c_void_p * len(addresses))(*addresses)
    alignment = 256 if settings.check else 16
    glue.light_emulate(table, alignment)
    load_allocator(allocator_library(settings.shared)).light_guard(table, alignment)


_allocators: dict[str, c.PyDLL] = {}


def load_allocator(library: Path) -> c.PyDLL:
    """The allocator of this process: the first that was loaded under its name."""
    if library.name not in _allocators:
        allocator = c.PyDLL(str(library))
        allocator.light_guard.restype = allocator.light_enter.restype = None
        allocator.light_guard.argtypes = [c.POINTER(c.c_void_p), c.c_size_t]
        allocator.light_enter.argtypes = [c.c_int]
        _allocators[library.name] = allocator
    return _allocators[library.name]


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Inside the block, what torch allocates on this thread lies in the emulator's memory, once an extension for it
    has been connected."""
    allocators = list(_allocators.values())
    for allocator in allocators:
        allocator.light_enter(1)
    try:
        yield
    finally:
        for allocator in allocators:
            allocator.light_enter(-1)


@dataclass(frozen=True)
class Compilation:
    """Flags for one kind of unit, and its precompiled header: `-include` options, or none."""

    flags: tuple[str, ...]
    include: tuple[str, ...]


def _place(flags: Sequence[str], text: str, name: str, tools: Path) -> Path:
    key = hashlib.sha256(repr((identity(), list(flags), text)).encode()).hexdigest()[:16]
    return tools / f"{name}-{key}" / ("extension.h.pch" if find_compiler().is_clang else "extension.h.gch")


def _precompile(flags: Sequence[str], text: str, name: str, tools: Path) -> tuple[str, ...]:
    compiler = find_compiler()
    compiled = _place(flags, text, name, tools)
    folder = compiled.parent
    header = folder / "extension.h"
    if not compiled.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with locked(tools / f"{folder.name}.lock"):
            if not compiled.exists():
                header.write_text(text, encoding="utf-8")
                part = compiled.with_suffix(".part")
                run_own([*compiler.command, *flags, "-x", "c++-header", str(header), "-o", str(part)], folder)
                os.replace(part, compiled)
    return ("-include-pch", str(compiled)) if compiler.is_clang else ("-include", str(header))


def emulated_unit(settings: Settings, is_device: bool, volatile: bool) -> Compilation:
    """How a unit is compiled for the emulator. Host units are not instrumented and hardly optimised.

    What is precompiled for volatile accesses is wished for where it is missing, and built for this one alone.
    """
    flags, text = _emulation(settings, is_device, volatile)
    if is_device and volatile and not _place(flags, text, "emulated", settings.shared).exists():
        wishes.wish(_name(settings))
    return Compilation(tuple(flags), _precompile(flags, text, "emulated", settings.shared))


def is_warm(settings: Settings) -> bool:
    """Whether what `warm` precompiles for the emulator is there."""
    kinds = [_emulation(settings, is_device, False) for is_device in (False, True)]
    return all(_place(flags, text, "emulated", settings.shared).exists() for flags, text in kinds)


def _emulation(settings: Settings, is_device: bool, volatile: bool) -> tuple[list[str], str]:
    checked = settings.check and is_device
    mode = Mode(settings.lanes, settings.dialect == "hip", checked, volatile and is_device)
    flags = mode.flags()
    if not is_device:
        flags = ["-O1" if f == "-O3" else f for f in flags]
    flags += [*definitions(), *INCLUDE, f"-I{toolchain.SOURCES / 'simt'}", f"-I{toolchain.SOURCES / 'include'}"]
    return flags, f'#include "{toolchain.SOURCES / "simt" / "simt.h"}"\n#include "light/everything.h"\n'


def host_unit(settings: Settings, cuda_include: Path) -> Compilation:
    """How a host unit is compiled next to a device unit of nvcc."""
    flags = ["-std=c++17", "-O2", "-fPIC", "-w", "-fvisibility=hidden", "-pipe"]
    flags += [*definitions(), *INCLUDE, f"-I{cuda_include}"]
    return Compilation(tuple(flags), _precompile(flags, '#include "light/everything.h"\n', "host", settings.shared))


def _name(settings: Settings) -> str:
    """What the header for volatile accesses is wished for by."""
    return f"light-{settings.dialect}-{settings.lanes}-device-volatile{'-check' if settings.check else ''}"


def offer(settings: Settings) -> None:
    """Let runners wish for what `warm` does not build because few need it."""
    wishes.offer(_name(settings), functools.partial(emulated_unit, settings, True, True))


def warm(settings: Settings) -> None:
    """Build everything that is shared, so that the first candidate need not wait. Raises CompilerMissing."""
    load_glue(glue_library(settings.shared))
    if settings.mode == "emulated":
        allocator_library(settings.shared)
    if settings.mode == "nvcc":
        from kengine.extension.nvcc import find_toolkit

        host_unit(settings, find_toolkit().include)
        return
    runtime = toolchain.runtime_library(settings.shared)
    emulated_unit(settings, False, False)
    emulated_unit(settings, True, False)
    from kengine.simt.runtime import load_runtime

    load_runtime(runtime)
