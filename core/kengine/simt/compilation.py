"""From a device source to a loaded program, by way of the machine's C++ compiler and a cache by content."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from kengine.simt import attribution, standing
from kengine.simt.alignment import compile_unit
from kengine.simt.fault import CompileError, Unsupported
from kengine.simt.lexer import blank, line_of
from kengine.simt.limits import DeviceLimits
from kengine.simt.program import Program
from kengine.simt.rewrite import has_return_in_macro, has_volatile_code, rewrite
from kengine.simt.toolchain import SOURCES, Mode, find_compiler, identity, precompiled_header, run, runtime_library
from kengine.simt.unsupported import find_unsupported

LARGEST_SOURCE = 8 << 20


def build(
    source: str,
    *,
    filename: str = "kernel.cu",
    lanes: Literal[32, 64] = 32,
    dialect: Literal["cuda", "hip"] = "cuda",
    check: bool = False,
    limits: DeviceLimits | None = None,
    cache: Path,
    defines: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    instances: Sequence[str] = (),
    exports: Sequence[str] = (),
) -> Program:
    """Compile a CUDA or HIP source for the emulator and load it.

    `check` compiles every memory access with a check of bounds, races and uninitialised shared memory. `limits` are
    the chip's (default: sm_90, or gfx942 for 64 lanes). `defines` are macros, `options` further compiler options such
    as `-I…`. `instances` are template kernels to be launched by name, such as `scale<float>`; `exports` are host
    functions to be called by name. The cache directory may be shared between processes.

    Raises CompileError (with the candidate's own line), Unsupported, CompilerMissing, CompilerUnusable, InfraError.
    """
    cache = cache.absolute()
    if len(source) > LARGEST_SOURCE:
        raise CompileError(
            f"the source has {len(source)} characters; the largest accepted has {LARGEST_SOURCE}", None, ""
        )
    if "\0" in source:
        line = source.count("\n", 0, source.index("\0")) + 1
        raise CompileError(f"{filename}:{line}: the source contains a NUL character: it is not text", line, "")
    unsupported = find_unsupported(source)
    if unsupported:
        raise Unsupported(*unsupported[0])
    mode = Mode(lanes, dialect == "hip", check, has_volatile_code(source))
    filename = Path(filename).name or "kernel.cu"
    prelude, text = _translation_unit(source, mode, defines or {}, instances, exports)
    key = hashlib.sha256(repr((identity(), mode.flags(), list(options), filename, prelude, text)).encode()).hexdigest()[
        :24
    ]
    library = cache / f"program-{key}.so"
    runtime = runtime_library(cache)
    if not library.exists():
        _compile(prelude, text, library, filename, mode, options, runtime, cache)
    limits = limits or DeviceLimits.of("gfx942" if lanes == 64 else "sm_90")
    try:
        return Program(library, runtime, source=source, filename=filename, check=check, limits=limits)
    except OSError as error:
        missing = re.search(r"undefined symbol: (\w+)", str(error))
        if not missing:
            raise
        library.unlink(missing_ok=True)
        raise _explain_missing(missing.group(1), source, filename, str(error)) from None


def _explain_missing(symbol: str, source: str, filename: str, log: str) -> CompileError:
    """A function that is declared and used but nowhere defined. `symbol` may be mangled."""
    name = symbol
    if symbol.startswith("_Z"):
        parts = [symbol[m.end() : m.end() + int(m.group(0))] for m in re.finditer(r"\d+(?=[A-Za-z_])", symbol)]
        name = "::".join(parts) if symbol.startswith("_ZN") and parts else parts[0] if parts else symbol
    uses = [m.start() for m in re.finditer(rf"\b{re.escape(name.split('::')[-1])}\b", blank(source))]
    line = line_of(source, uses[-1]) if uses else None
    where = f"{filename}:{line}" if line else filename
    return CompileError(f"{where}: '{name}' is declared but not defined", line, log)


def _translation_unit(
    source: str, mode: Mode, defines: Mapping[str, str], instances: Sequence[str], exports: Sequence[str]
) -> tuple[str, str]:
    """What precedes the candidate, and the candidate with the entry points behind it."""
    strict = 0 if has_return_in_macro(source) else 1
    prelude = [
        f"#define SIMT_STRICT_EXIT {strict}",
        '#include "definitions.h"',
        *(f"#define {k} {v}" for k, v in defines.items()),
    ]
    tail = [f'SIMT_KERNEL("{name}", {name})' for name in instances] + [
        f'SIMT_HOST("{name}", {name})' for name in exports
    ]
    body = rewrite(source)
    end = ["", '#line 1 "(entry points)"', *tail, ""] if tail else [""]
    return "\n".join([*prelude, ""]), body + "\n".join(end)


def _compile(
    prelude: str,
    text: str,
    library: Path,
    filename: str,
    mode: Mode,
    options: Sequence[str],
    runtime: Path,
    cache: Path,
) -> None:
    try:
        made = standing.compile_source(prelude, text, filename, mode, options, runtime, cache)
    except CompileError as error:
        raise _explain(error, filename) from None
    if made is not None:
        os.replace(made, library)
        shutil.rmtree(made.parent, ignore_errors=True)
        return
    header = precompiled_header(mode, cache)
    compiler = find_compiler()
    include = ["-include-pch", f"{header}.pch"] if compiler.is_clang else ["-include", str(header)]
    with tempfile.TemporaryDirectory(dir=cache) as name:
        directory = Path(name)
        # The candidate is compiled under its own name, in its own file: messages and line tables need no mapping.
        (directory / "candidate").mkdir()
        unit, thing, out = directory / "candidate" / filename, directory / "unit.o", directory / "unit.so"
        unit.write_text(text, encoding="utf-8", errors="surrogateescape")
        (directory / "prelude.h").write_text(prelude, encoding="utf-8")
        command = [*compiler.command, *mode.flags(), *include, "-include", str(directory / "prelude.h")]
        command += [f"-I{SOURCES / 'simt'}", f"-I{SOURCES / 'include'}", *options]
        command += ["-c", "-x", "c++", filename, "-o", str(thing)]
        try:
            compile_unit(command, directory / "candidate")
        except CompileError as error:
            raise _explain(error, filename) from None
        link = [*compiler.command, str(thing), "-o", str(out), *mode.link_flags(runtime)]
        try:
            run(link, directory)
        except CompileError as error:
            attributed = attribution.attribute_link(error, command, link, directory)
            raise (_explain(error, filename) if attributed is error else attributed) from None
        os.replace(out, library)


def _explain(error: CompileError, filename: str) -> CompileError:
    """The same error with the candidate's line and the first message."""
    first = re.search(rf"^{re.escape(filename)}:(\d+)(?::\d+)?: (?:fatal )?error: (.*)$", error.log, re.M)
    if first:
        # An error inside a macro or a header of ours is reported there; the candidate's line follows as context.
        return CompileError(f"{filename}:{first.group(1)}: {first.group(2)}", int(first.group(1)), error.log)
    message = re.search(r"(?:error: |undefined reference to )(.*)$", error.log, re.M)
    place = rf"{re.escape(filename)}:(\d+)"
    # What uses a template of ours, before what includes it.
    near = re.search(rf"^{place}(?::\d+)?:\s+(?:required from|note: in instantiation)", error.log, re.M)
    near = near or re.search(rf"^\s*(?:In file included from |from )?{place}", error.log, re.M)
    line = int(near.group(1)) if near else None
    text = message.group(0) if message else error.message
    return CompileError(f"{filename}:{line}: {text}" if line else f"{filename}: {text}", line, error.log)
