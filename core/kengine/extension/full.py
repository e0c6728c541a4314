"""Building an extension with torch's own headers: for what the light ones lack. Some ten seconds, or a device's minute.

Under emulation the tensors lie on the CPU, and torch's headers say so. Candidates check for a device, so the names by
which they ask (`is_cuda()`, `kCUDA`) are those of the CPU there.
"""

from __future__ import annotations

import contextlib
import ctypes as c
import functools
import importlib.machinery
import importlib.util
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from kengine.extension import failure, light, nvcc, precompiled, toolkit
from kengine.extension.module import Extension, emulate, open_program
from kengine.extension.settings import Settings
from kengine.extension.sources import SourceSet, Unit, language_flags, parameter_names
from kengine.simt import toolchain
from kengine.simt.lexer import blank
from kengine.simt.rewrite import has_return_in_macro, has_volatile_code, rewrite
from kengine.simt.toolchain import Mode, find_compiler, run

_OLD_TYPE = re.compile(r"\.[ \t]*type[ \t]*\([ \t]*\)[ \t]*(?=\.[ \t]*is_cuda\b)")

_TO_HOST = re.compile(
    r"\.[ \t]*to[ \t]*\([ \t]*(?:(?:torch|at|c10)::)?(?:Device[ \t]*\([ \t]*(?:(?:torch|at|c10)::)?kCPU[ \t]*\)|kCPU)"
    r"[ \t]*(?:,[ \t]*(?P<dtype>[\w:]*\bk[A-Z]\w*)[ \t]*)?\)"
)
"""A copy to the host, of which nothing is left where the device's tensors lie there as well."""
_CALLED = ("__init__", "__call__", "__getitem__", "__enter__", "__exit__")
"""Special methods in which a candidate's code runs."""


def build(sources: SourceSet, settings: Settings, reason: str) -> Extension:
    """Build, load and say why. Raises CompileError with the compiler's log, CandidateFault for a missing function and,
    under emulation, `unsupported` when the compile takes too long."""
    library = settings.cache / f"extension-{light.key_of(sources, settings, 'full')}.so"
    if not library.exists():
        compile_only(sources, settings)
    program = open_program(library, sources, settings)
    glue = toolkit.load_glue(toolkit.glue_library(settings.shared))
    toolkit.connect(glue, settings, program.runtime.lib if program else None)
    operators = _operators()
    try:
        with toolkit.guarded() if program else contextlib.nullcontext():
            module = _import(sources.name, library) if sources.python_module else None
            if module is None:  # a library of operators
                c.CDLL(str(library))
    except (ImportError, OSError) as error:
        missing = failure.diagnose_symbol(str(error), sources)
        if missing is None:
            raise
        library.unlink(missing_ok=True)
        raise missing.fault() from None
    extension = Extension(sources.name, library, "full", reason, program)
    if program is not None:
        for qualified in sorted(_operators() - operators):
            space, _, name = qualified.partition("::")
            _emulate_operator(
                space, name.partition(".")[0], lambda f: emulate(_known(f, glue, []), extension, settings)
            )
    for name in [n for n in dir(module) if module is not None and not n.startswith("__")]:
        value = getattr(module, name)
        if program is not None and isinstance(value, type):
            _emulate_methods(value, lambda f, known: emulate(_known(f, glue, known), extension, settings), sources)
        elif program is not None and callable(value):
            value = emulate(_known(value, glue, parameter_names(sources.text, name)), extension, settings)
        extension.bind(name, value)
    extension.__doc__ = module.__doc__ if module is not None else None
    return extension


def _operators() -> set[str]:
    import torch

    return set(torch._C._dispatch_get_all_op_names())


class _Operator:
    """An operator of the candidate's, or of its overloads, that runs as a function of its module does."""

    def __init__(self, packet: Any, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._packet, self._wrap, self._call = packet, wrap, wrap(packet)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self._call(*args, **keywords)

    def __getattr__(self, name: str) -> Any:
        import torch

        value = getattr(self._packet, name)
        return _Operator(value, self._wrap) if isinstance(value, torch._ops.OpOverload) else value


def _emulate_operator(space: str, name: str, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
    """Have `torch.ops.SPACE.NAME` run as the functions of a module do."""
    import torch

    found = getattr(torch.ops, space)
    packet = getattr(found, name, None)  # None: an implementation without a schema
    if packet is not None and not isinstance(packet, _Operator):
        setattr(found, name, _Operator(packet, wrap))


def _emulate_methods(
    bound: type, wrap: Callable[[Callable[..., Any], list[str]], Callable[..., Any]], sources: SourceSet
) -> None:
    """Have the methods of a class that a module binds run as its functions do: kernels know their arguments, and what
    goes wrong in one is raised."""
    for name, value in list(vars(bound).items()):
        if callable(value) and not isinstance(value, type) and (not name.startswith("__") or name in _CALLED):
            names = ["self", *parameter_names(sources.text, name)]
            made = wrap(getattr(bound, name), names)
            # A function in a class is bound to the object, as pybind11's own are.
            setattr(bound, name, made)


def _known(function: Callable[..., Any], glue: c.PyDLL, names: list[str]) -> Callable[..., Any]:
    """A function whose arguments kernels may touch while it runs."""
    import torch

    def remember(value: Any, name: str) -> None:
        if isinstance(value, torch.Tensor):
            glue.light_remember(value, name.encode())
        elif isinstance(value, (list, tuple, dict)):
            for item in value.values() if isinstance(value, dict) else value:
                remember(item, name)

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        for i, value in enumerate(args):
            remember(value, names[i] if i < len(names) else f"arg{i}")
        for name, value in keywords.items():
            remember(value, name)
        try:
            return function(*args, **keywords)
        finally:
            glue.light_forget()

    return call


def _import(name: str, library: Path) -> ModuleType:
    loader = importlib.machinery.ExtensionFileLoader(name, str(library))
    spec = importlib.util.spec_from_file_location(name, library, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def compile_only(sources: SourceSet, settings: Settings) -> Path:
    """Compile and link into the cache, without loading. Raises CompileError."""
    library = settings.cache / f"extension-{light.key_of(sources, settings, 'full')}.so"
    settings.cache.mkdir(parents=True, exist_ok=True)
    glue = toolkit.glue_library(settings.shared)
    lib = toolkit.torch_folder() / "lib"
    link = [
        f"-L{lib}",
        "-ltorch_python",
        "-ltorch",
        "-ltorch_cpu",
        "-lc10",
        f"-Wl,-rpath,{lib}",
        str(glue),
        f"-Wl,-rpath,{settings.shared}",
    ]
    with tempfile.TemporaryDirectory(dir=settings.cache) as name:
        folder = Path(name)
        out = folder / "extension.so"
        if settings.mode == "emulated":
            objects = light.compile_all(
                sources, folder, lambda unit, place: _emulated(unit, sources, settings, place), settings.full_seconds
            )
            flags = Mode(settings.lanes, settings.dialect == "hip", settings.check, False).link_flags(
                toolchain.runtime_library(settings.shared)
            )
            flags = [f for f in flags if f not in ("-nostdlib", "-nostartfiles")]
            run([*find_compiler().command, *objects, "-o", str(out), *link, *flags], folder)
        else:
            kit = nvcc.find_toolkit()
            objects = light.compile_all(
                sources, folder, lambda unit, place: _native(unit, sources, settings, kit, place)
            )
            own = [f for f in sources.link_flags if f.startswith(("-l", "-L", "-Wl,"))]
            link += ["-lc10_cuda", "-ltorch_cuda"] if (lib / "libtorch_cuda.so").exists() else []
            run([*find_compiler().command, "-shared", *objects, "-o", str(out), *link, *own, *kit.link_flags()], folder)
        os.replace(out, library)
    return library


def _for_emulator(text: str) -> str:
    """The text with `x.is_cuda()` for `x.type().is_cuda()`, as what that type is has no name for the CPU, and with
    copies to the host that are made."""
    out, at = [], 0
    code = blank(text)
    for match in sorted([*_OLD_TYPE.finditer(code), *_TO_HOST.finditer(code)], key=lambda found: found.start()):
        out.append(text[at : match.start()])
        if match.re is _TO_HOST:
            dtype = f".dtype({match['dtype']})" if match["dtype"] else ""
            out.append(f".to(at::TensorOptions(){dtype}, true, true)")
        at = match.end()
    return "".join([*out, text[at:]])


def _emulated(unit: Unit, sources: SourceSet, settings: Settings, place: Path) -> list[str]:
    volatile = has_volatile_code(unit.text)
    flags = precompiled.full_flags(settings, unit.is_device, volatile)
    lines = [f"#define TORCH_EXTENSION_NAME {sources.name}"]
    if unit is sources.units[0]:
        strict = 0 if any(has_return_in_macro(u.text) for u in sources.units) else 1
        definitions = toolchain.SOURCES / "simt" / "definitions.h"
        # Linked with start files, which bring the handle that the emulator defines for programs without them.
        lines += [f"#define SIMT_STRICT_EXIT {strict}", *(["#define SIMT_CHECK"] if settings.check else [])]
        lines += ["#define __dso_handle light_dso_handle", f'#include "{definitions}"', "#undef __dso_handle"]
    lines += [f"#include <{h}>" for h in unit.headers]
    text = _for_emulator(unit.text)
    text = (rewrite(text) if unit.is_device else text) + unit.tail + "\n"
    light.write_unit(unit, place, "\n".join([*lines, ""]), text)
    header = precompiled.header(settings, unit.is_device, volatile, place)
    own = language_flags(sources.device_flags if unit.is_device else sources.host_flags)
    return [
        *find_compiler().command,
        *flags,
        "-include",
        str(header),
        "-include",
        "prelude.h",
        *light.folders(unit, sources),
        *[f for f in own if not f.startswith("-std")],
        "-c",
        "-x",
        "c++",
        unit.filename,
        "-o",
        "unit.o",
    ]


def _native(unit: Unit, sources: SourceSet, settings: Settings, kit: nvcc.Toolkit, place: Path) -> list[str]:
    lines = [f"#define TORCH_EXTENSION_NAME {sources.name}", *(f"#include <{h}>" for h in unit.headers), ""]
    light.write_unit(unit, place, "\n".join(lines), unit.text + unit.tail + "\n")
    include = [*toolkit.torch_include(), f"-I{kit.include}", *light.folders(unit, sources)]
    defines = ["-DTORCH_API_INCLUDE_EXTENSION_H"]
    if unit.is_device:
        command = nvcc.device_command(
            kit, settings.arch, sources.device_flags, [*include, *defines], toolkit.language()
        )
        return [*command, "-include", "prelude.h", "-c", "-x", "cu", unit.filename, "-o", "unit.o"]
    own = language_flags(sources.host_flags)
    standard = [] if any(f.startswith("-std") for f in own) else [f"-std={toolkit.language()}"]
    return [
        *find_compiler().command,
        "-O2",
        "-fPIC",
        "-w",
        *standard,
        *include,
        *defines,
        *own,
        "-include",
        "prelude.h",
        "-c",
        "-x",
        "c++",
        unit.filename,
        "-o",
        "unit.o",
    ]
