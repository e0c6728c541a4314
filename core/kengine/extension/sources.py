"""What `load_inline` and `load` are given, as translation units."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kengine.errors import CandidateFault
from kengine.simt.kernels import parameter_name
from kengine.simt.lexer import blank, closing, split_commas

LARGEST_SOURCE = 8 << 20
HOST_NAME, DEVICE_NAME = "cpp_sources.cpp", "cuda_sources.cu"
BINDINGS = "functions"  # the file name of the generated bindings in messages


@dataclass(frozen=True)
class Unit:
    """One translation unit. `tail` follows the text and is ours."""

    filename: str
    text: str
    is_device: bool
    headers: tuple[str, ...] = ()
    tail: str = ""
    folder: str = ""


@dataclass(frozen=True)
class SourceSet:
    """All that decides an extension: units, flags for host and device, names of the bound functions."""

    name: str
    units: tuple[Unit, ...]
    host_flags: tuple[str, ...] = ()
    device_flags: tuple[str, ...] = ()
    link_flags: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    functions: Mapping[str, str] = field(default_factory=dict)
    python_module: bool = True

    @property
    def text(self) -> str:
        """Every source, for searches."""
        return "\n".join(u.text for u in self.units)


def _texts(value: object, what: str) -> list[str]:
    given = [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple)) else None
    if given is None or not all(isinstance(v, str) for v in given):
        raise TypeError(f"{what} must be a string or a list of strings, got {type(value).__name__}")
    text = "\n".join(given)
    if len(text) > LARGEST_SOURCE:
        raise CandidateFault(
            "compile_failed", f"{what} has {len(text)} characters; the largest accepted has {LARGEST_SOURCE}"
        )
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise CandidateFault("compile_failed", f"{what}:{line}: the source contains a NUL character", line=line)
    return given


def _flags(value: object, what: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return tuple(value.split())
    if isinstance(value, (list, tuple)) and all(isinstance(v, (str, os.PathLike)) for v in value):
        return tuple(os.fspath(v) for v in value if os.fspath(v))
    raise TypeError(f"{what} must be a list of strings, got {value!r}")


def _words(value: object, what: str) -> tuple[str, ...]:
    """Compiler flags as they arrive: torch writes them into a command line unquoted, where a shell splits them."""
    out: list[str] = []
    for flag in _flags(value, what):
        try:
            out += shlex.split(flag)
        except ValueError:  # an open quotation mark
            out.append(flag)
    return tuple(out)


def _functions(value: object) -> dict[str, str] | None:
    if value is None:
        return None
    if isinstance(value, str):
        return {value: value}
    if isinstance(value, Mapping):
        return {str(k): str(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return {str(v): str(v) for v in value}
    raise ValueError(f"Expected 'functions' to be a list or dict, but was {type(value)}")


def is_device_text(text: str, kernels_in_host: bool) -> bool:
    """Whether a host source has kernels, where the compiler of host sources (hipcc, nvcc) takes them."""
    return kernels_in_host and re.search(r"\b__global__\b|<<<|\bhipLaunchKernelGGL\b", blank(text)) is not None


def kernels_in_host(dialect: str) -> bool:
    """Whether the compiler of host sources knows kernels: CXX names one that does; HIP has one compiler for all."""
    named = os.path.basename(os.environ.get("CXX", "").split(" ")[0])
    return dialect == "hip" or named in ("hipcc", "nvcc")


def from_inline(
    name: str,
    cpp_sources: object,
    cuda_sources: object,
    functions: object,
    *,
    extra_cflags: object = None,
    extra_cuda_cflags: object = None,
    extra_ldflags: object = None,
    extra_include_paths: object = None,
    no_implicit_headers: bool = False,
    dialect: str = "cuda",
    python_module: bool = True,
) -> SourceSet:
    """The units of `load_inline`: one for the host sources with the bindings, one for the device sources."""
    host = "\n".join(_texts(cpp_sources if cpp_sources is not None else [], "cpp_sources"))
    device = "\n".join(_texts(cuda_sources or [], "cuda_sources"))
    bound = _functions(functions)
    tail = ""
    if bound is not None:
        rows = [f"m.def({_quoted(f)}, torch::wrap_pybind_function({f}), {_quoted(d)});" for f, d in bound.items()]
        tail = "\n".join([f'\n#line 1 "{BINDINGS}"', "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *rows, "}", ""])
    implicit = not no_implicit_headers
    units = [
        Unit(
            HOST_NAME,
            host,
            is_device_text(host, kernels_in_host(dialect)),
            ("torch/extension.h",) if implicit else (),
            tail,
        )
    ]
    if device:
        runtime = ("hip/hip_runtime.h",) if dialect == "hip" else ("cuda.h", "cuda_runtime.h")
        units.append(Unit(DEVICE_NAME, device, True, ("torch/types.h", *runtime) if implicit else ()))
    return _complete(
        name, units, bound, extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, python_module
    )


def from_files(
    name: str,
    files: object,
    *,
    extra_cflags: object = None,
    extra_cuda_cflags: object = None,
    extra_ldflags: object = None,
    extra_include_paths: object = None,
    dialect: str = "cuda",
    python_module: bool = True,
) -> SourceSet:
    """The units of `load`: one for each file. Raises CandidateFault for one that cannot be read."""
    units = []
    names: set[str] = set()
    for file in _flags([files] if isinstance(files, (str, os.PathLike)) else files, "sources"):
        path = Path(file)
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CandidateFault("compile_failed", f"source file {file}: {error}") from None
        _texts(text, path.name)
        unique = path.name
        while unique in names:
            unique = f"x_{unique}"
        names.add(unique)
        is_device = path.suffix in (".cu", ".hip") or is_device_text(text, kernels_in_host(dialect))
        units.append(Unit(unique, text, is_device, folder=str(path.resolve().parent)))
    if not units:
        raise CandidateFault("compile_failed", "load() was given no source files")
    return _complete(
        name, units, None, extra_cflags, extra_cuda_cflags, extra_ldflags, extra_include_paths, python_module
    )


def _complete(
    name: object,
    units: list[Unit],
    functions: dict[str, str] | None,
    cflags: object,
    cuda_cflags: object,
    ldflags: object,
    include: object,
    python_module: bool,
) -> SourceSet:
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z_]\w*", name):
        # The name is a C++ identifier: PYBIND11_MODULE makes a function of it.
        raise CandidateFault("compile_failed", f"extension name {name!r} is not a C++ identifier")
    return SourceSet(
        name,
        tuple(units),
        _words(cflags, "extra_cflags"),
        _words(cuda_cflags, "extra_cuda_cflags"),
        _words(ldflags, "extra_ldflags"),
        _flags(include, "extra_include_paths"),
        functions or {},
        python_module,
    )


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def language_flags(flags: Sequence[str]) -> list[str]:
    """Those of a candidate's flags that mean the same to every compiler: macros, include folders, the language."""
    out: list[str] = []
    rest = iter(flags)
    for flag in rest:
        if flag in ("-D", "-U", "-I", "-isystem"):
            value = next(rest, "")
            out += [flag, value] if value else []
        elif re.match(r"-[DUI].", flag) or re.fullmatch(r"-std=(c|gnu)\+\+\d\w", flag):
            out.append(flag)
    return out


def parameter_names(text: str, function: str) -> list[str]:
    """The names of a function's parameters by its definition, else by a declaration; [] if there is neither.

    A function that a module binds under another name (`m.def("run", &launch)`) is looked for by its own.
    """
    bound = re.search(rf'\.def\s*\(\s*"{re.escape(function)}"\s*,\s*&\s*(?:\w+\s*::\s*)*(\w+)', text)
    function = bound[1] if bound else function
    blanked = blank(text)
    best: list[str] = []
    for match in re.finditer(rf"\b{re.escape(function)}\s*\(", blanked):
        end = closing(blanked, match.end() - 1)
        if end < 0:
            continue
        after = blanked[end + 1 :].lstrip()[:1]
        before = re.search(r"[\w>&*\]]\s*$", blanked[: match.start()])
        if after not in ("{", ";") or not before:
            continue
        inner = blanked[match.end() : end]
        names = [parameter_name(p) for p in split_commas(inner)] if inner.strip() else []
        if all(names) and (after == "{" or not best):
            best = names
    return best
