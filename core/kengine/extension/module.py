"""A loaded extension: the functions of its module, and what the emulator says about the kernels that they launch."""

from __future__ import annotations

import contextlib
import ctypes as c
import functools
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from kengine.errors import CandidateFault
from kengine.extension import toolkit
from kengine.extension.settings import Settings
from kengine.extension.sources import SourceSet, parameter_names
from kengine.runner import hostmemory
from kengine.simt import toolchain
from kengine.simt.fault import Fault, KernelFault
from kengine.simt.limits import DeviceLimits
from kengine.simt.program import Program
from kengine.simt.runtime import LaunchMode, LaunchRecord, refuse

_LONGEST_REASON = 400
_OURS = frozenset({"library", "path", "reason", "program", "sources", "__name__", "__file__"})


class Extension:
    """A module made by `load_inline` or `load`. Its functions are attributes.

    path: `light` or `full`, the headers that it was built with; reason: why, when it is `full`. library: the shared
    object. program: the emulator's view of it (None on a device). sources: what it was built from.
    """

    def __init__(
        self, name: str, library: Path, path: Literal["light", "full"], reason: str, program: Program | None
    ) -> None:
        self.__name__ = name
        self.__file__ = str(library)
        self.library, self.path, self.reason, self.program = library, path, reason, program
        self.sources: SourceSet | None = None

    def __repr__(self) -> str:
        return f"<extension {self.__name__!r} ({self.path} headers)>"

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def bind(self, name: str, value: Any) -> None:
        """Make a function or value of the module an attribute. CandidateFault (unsupported) for a name of ours: what
        reads those would be told by the candidate."""
        if hasattr(type(self), name) or name in _OURS:
            raise CandidateFault(
                "unsupported", f"extension {self.__name__!r} binds the name {name!r}, which is taken here: rename it"
            )
        setattr(self, name, value)

    def describe(self) -> dict[str, str]:
        """What the details of an artifact say of it: its name, the headers that it was built with, and why torch's."""
        told = {"name": self.__name__, "headers": self.path}
        return {**told, "reason": self.reason[:_LONGEST_REASON]} if self.reason else told

    # ---- integrity, under emulation ----
    def launches(self) -> list[LaunchRecord]:
        """The launches of this process since the last `forget_launches`. [] on a device."""
        return self.program.launches() if self.program else []

    def forget_launches(self) -> None:
        """Start the record of launches anew."""
        if self.program:
            self.program.forget_launches()

    def set_mode(self, mode: LaunchMode) -> None:
        """Let the launches of this process run, do nothing, or raise."""
        if self.program:
            self.program.set_mode(mode)

    def take_fault(self) -> Fault | None:
        """The fault of the launches since the last call of this."""
        return self.program.take_fault() if self.program else None


def load_light(library: Path, sources: SourceSet, settings: Settings) -> Extension:
    """Load a library built with the light headers. OSError for a missing symbol, ImportError when it binds nothing."""
    glue = toolkit.load_glue(toolkit.glue_library(settings.shared))
    program = open_program(library, sources, settings)
    toolkit.connect(glue, settings, program.runtime.lib if program else None)
    with toolkit.guarded() if program else contextlib.nullcontext():  # its global tensors are made now
        binary = c.PyDLL(str(library))
    extension = Extension(sources.name, library, "light", "", program)
    published = [p for p in (_publish(binary, "light_extension"), _publish(binary, "light_libraries")) if p]
    if not published and sources.python_module:
        raise ImportError(
            f"extension {sources.name!r} defines no module: give the names of its functions, "
            "or write PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)"
        )
    for table in published:
        for name, function in table["functions"].items():
            names = ",".join(parameter_names(sources.text, name))
            glue.light_name_parameters(function.__self__, names.encode())
            extension.bind(name, emulate(function, extension, settings) if program else function)
        for name, value in table["attributes"].items():
            extension.bind(name, value)
        extension.__doc__ = table["documentation"] or None
        _register(table["registrations"], extension, settings)
    return extension


def open_program(library: Path, sources: SourceSet, settings: Settings) -> Program | None:
    """The emulator's view of a library; None on a device."""
    if settings.mode != "emulated":
        return None
    runtime = toolchain.runtime_library(settings.shared)
    limits = settings.limits or DeviceLimits.of("gfx942" if settings.lanes == 64 else "sm_90")
    device = next((u for u in sources.units if u.is_device), sources.units[0])
    program = Program(
        library, runtime, source=device.text, filename=device.filename, check=settings.check, limits=limits
    )
    program.seconds = settings.launch_seconds
    return program


def emulate(function: Callable[..., Any], extension: Extension, settings: Settings) -> Callable[..., Any]:
    """A function whose kernels run in the emulator: what goes wrong in one is raised as KernelFault at the return."""
    program = extension.program
    assert program is not None
    runtime = program.runtime
    glue = toolkit.load_glue(toolkit.glue_library(settings.shared))

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        toolkit.connect(glue, settings, runtime.lib)  # an extension of another kind may have run since
        runtime.set_limits(program.limits, settings.launch_seconds)
        before = runtime.lib.simt_record_count()
        error: BaseException | None = None
        result = None
        try:
            with toolkit.guarded(), hostmemory.inside((args, keywords), extension.path == "light"):
                result = function(*args, **keywords)
        except Exception as raised:
            error = raised
        text = runtime.take_output()
        if text:
            sys.stdout.write(text)
        # A fault comes first: the host code's own error is most often a consequence of it.
        fault = program.take_fault()
        if fault is not None:
            raise KernelFault(fault) from error
        if runtime.mode == "raise" and runtime.lib.simt_record_count() > before:
            raise refuse() from error
        if error is not None:
            raise error
        return result

    return call


def _publish(binary: c.PyDLL, name: str) -> dict[str, Any] | None:
    try:
        function = getattr(binary, name)
    except AttributeError:
        return None
    function.restype = c.py_object
    function.argtypes = []
    table: dict[str, Any] = function()
    return table


# Operators live as long as the process, whether or not the extension is kept.
_libraries: list[Any] = []


def _register(rows: list[tuple[str, str, str, str, Any]], extension: Extension, settings: Settings) -> None:
    """Define and implement the operators of TORCH_LIBRARY blocks."""
    if not rows:
        return
    import torch

    on_device = {row[:2] for row in rows if row[3] in _DEVICE_KEYS}
    for library, name, schema, key, function in sorted(rows, key=lambda r: not r[2]):
        handle = torch.library.Library(library, "FRAGMENT")
        _libraries.append(handle)
        if schema:
            bare = schema.split("(")[0].split("|")[0].strip()
            if not _defined(library, bare):
                handle.define(_schema(schema))
            name = bare
        if function is None or (extension.program and key == "CPU" and (library, name) in on_device):
            continue
        wrapped = emulate(function, extension, settings) if extension.program else function
        wrapped = _with_defaults(wrapped, library, name)
        handle.impl(name, wrapped, _dispatch_key(key, extension.program is not None))


def _with_defaults(function: Callable[..., Any], library: str, name: str) -> Callable[..., Any]:
    """A function that is given what the dispatcher leaves out: trailing arguments that equal their defaults."""
    import torch

    base, _, overload = name.partition(".")
    packet = getattr(getattr(torch.ops, library), base, None)
    if packet is None:
        return function
    arguments = getattr(packet, overload or "default")._schema.arguments

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        missing = arguments[len(args) :]
        rest = [keywords.pop(a.name, a.default_value) for a in missing]
        return function(*args, *rest, **keywords)

    return call


_DEVICE_KEYS = ("CUDA", "HIP", "PrivateUse1")


def _dispatch_key(key: str, emulated: bool) -> str:
    """Where an implementation is registered: under emulation the device's tensors lie on the CPU."""
    if not emulated:
        return key or "CompositeExplicitAutograd"
    if key in ("", "CPU", *_DEVICE_KEYS):
        return "CompositeExplicitAutograd"
    return key.replace("AutogradCUDA", "AutogradCPU")


def _defined(library: str, name: str) -> bool:
    import torch

    return hasattr(getattr(torch.ops, library), name)


_TYPES = {
    "torch.Tensor": "Tensor",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "None": "()",
    "Optional[torch.Tensor]": "Tensor?",
    "list[torch.Tensor]": "Tensor[]",
    "list[int]": "int[]",
    "list[float]": "float[]",
    "Optional[int]": "int?",
    "Optional[float]": "float?",
    "Union[int, float, complex]": "Scalar",
}


def _schema(schema: str) -> str:
    """A schema as written, or one made from a C++ signature (`name|(arg0: torch.Tensor) -> torch.Tensor`)."""
    if "|" not in schema:
        return schema
    name, signature = schema.split("|", 1)
    inner, result = signature.rsplit(") -> ", 1)
    parts = []
    for part in inner[1:].split(", arg"):
        if part:
            label, kind = part.removeprefix("arg").split(": ", 1)
            parts.append(f"{_TYPES[kind]} arg{label}")
    return f"{name}({', '.join(parts)}) -> {_TYPES.get(result) or _tuple(result)}"


def _tuple(result: str) -> str:
    inner = result.removeprefix("tuple[").removesuffix("]")
    return "(" + ", ".join(_TYPES[p] for p in inner.split(", ")) + ")"
