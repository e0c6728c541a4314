"""Building an extension with the light headers."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from kengine.extension import nvcc, toolkit
from kengine.extension.settings import Settings
from kengine.extension.sources import SourceSet, Unit, language_flags
from kengine.simt import alignment, toolchain
from kengine.simt.fault import CompileError
from kengine.simt.lexer import blank
from kengine.simt.rewrite import has_return_in_macro, has_volatile_code, rewrite
from kengine.simt.toolchain import find_compiler, run


def key_of(sources: SourceSet, settings: Settings, path: str) -> str:
    """The name of an extension in the cache: a digest of all that it is made from."""
    units = [(u.filename, u.text, u.is_device, u.headers, u.tail, u.folder) for u in sources.units]
    parts = (
        toolkit.identity(),
        path,
        settings.mode,
        settings.dialect,
        settings.lanes,
        settings.check,
        settings.arch,
        sources.name,
        units,
        sources.host_flags,
        sources.device_flags,
        sources.link_flags,
        sources.include,
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def build(sources: SourceSet, settings: Settings) -> Path:
    """The library of an extension, from the cache or newly made. Raises CompileError with the compiler's log."""
    library = settings.cache / f"extension-{key_of(sources, settings, 'light')}.so"
    if library.exists():
        return library
    settings.cache.mkdir(parents=True, exist_ok=True)
    glue = toolkit.glue_library(settings.shared)
    with tempfile.TemporaryDirectory(dir=settings.cache) as name:
        folder = Path(name)
        out = folder / "extension.so"
        if settings.mode == "emulated":
            objects = compile_all(sources, folder, lambda unit, place: _emulated(unit, sources, settings, place))
            runtime = toolchain.runtime_library(settings.shared)
            flags = toolchain.Mode(settings.lanes, settings.dialect == "hip", settings.check, False).link_flags(runtime)
            run(
                [
                    *find_compiler().command,
                    *objects,
                    "-o",
                    str(out),
                    str(glue),
                    f"-Wl,-rpath,{settings.shared}",
                    *flags,
                ],
                folder,
            )
        else:
            kit = nvcc.find_toolkit()
            objects = compile_all(sources, folder, lambda unit, place: _native(unit, sources, settings, kit, place))
            link = [f for f in sources.link_flags if f.startswith(("-l", "-L", "-Wl,"))]
            run(
                [
                    *find_compiler().command,
                    "-shared",
                    *objects,
                    "-o",
                    str(out),
                    str(glue),
                    f"-Wl,-rpath,{settings.shared}",
                    *link,
                    *kit.link_flags(),
                ],
                folder,
            )
        os.replace(out, library)
    return library


def compile_all(
    sources: SourceSet,
    folder: Path,
    command: Callable[[Unit, Path], list[str]],
    seconds: float = toolchain.COMPILE_SECONDS,
) -> list[str]:
    """Compile every unit, at once; the objects. The first unit's error wins, whichever finishes first. Each may take
    `seconds`."""

    def compile_unit(index: int, unit: Unit) -> str:
        place = folder / f"unit{index}"
        place.mkdir()
        alignment.compile_unit(command(unit, place), place, seconds)
        return str(place / "unit.o")

    with ThreadPoolExecutor(len(sources.units)) as pool:
        jobs = [pool.submit(compile_unit, i, unit) for i, unit in enumerate(sources.units)]
        errors = [e for e in (job.exception() for job in jobs) if e is not None]
        # The device side's first: what a candidate's author looks for.
        for error in reversed(errors):
            raise error
        return [job.result() for job in jobs]


def _prelude(unit: Unit, sources: SourceSet, lines: list[str]) -> str:
    libraries = [f"#define TORCH_EXTENSION_NAME {sources.name}"]
    headers = [*unit.headers, *_standard(unit.text), *(_libcudacxx(unit.text) if unit.is_device else ())]
    return "\n".join([*lines, *libraries, *(f"#include <{h}>" for h in headers), ""])


# Headers of the standard library that torch's own bring and the light ones do not, with what is looked for in them.
_STANDARD = {
    "set": "set multiset", "unordered_set": "unordered_set", "list": "list",
    "deque": "deque", "queue": "queue priority_queue", "stack": "stack", "ratio": "ratio", "bit": "bit_cast",
    "variant": "variant visit get_if holds_alternative monostate", "atomic": "atomic atomic_flag atomic_thread_fence",
    "mutex": "mutex lock_guard unique_lock once_flag call_once recursive_mutex scoped_lock",
    "thread": "thread this_thread",
    "chrono": "chrono", "string_view": "string_view", "iomanip": "setw setprecision", "random": "mt19937 random_device",
    "complex": "complex", "bitset": "bitset", "future": "future promise async", "fstream": "ifstream ofstream",
    "condition_variable": "condition_variable", "typeindex": "type_index", "any": "any any_cast",
    "array": "array", "filesystem": "filesystem", "iterator": "back_inserter distance advance next prev inserter",
    "cctype": "isspace isdigit", "shared_mutex": "shared_mutex shared_lock",
    "regex": "regex smatch", "system_error": "system_error", "exception": "exception_ptr current_exception",
}  # fmt: skip
_HEADER_OF = {name: header for header, names in _STANDARD.items() for name in names.split()}


def _standard(text: str) -> list[str]:
    names = set(re.findall(r"\bstd\s*::\s*(\w+)", blank(text)))
    return sorted({_HEADER_OF[name] for name in names if name in _HEADER_OF})


# Headers of libcu++ that torch's own bring to device units, with what is looked for in them.
_LIBCUDACXX = {
    "cuda/std/limits": "numeric_limits", "cuda/std/tuple": "tuple make_tuple tie get", "cuda/std/array": "array",
    "cuda/std/complex": "complex", "cuda/std/functional": "plus minus multiplies less greater equal_to min max",
    "cuda/std/cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t",
    "cuda/std/cmath": "abs sqrt exp log pow floor ceil fabs fmax fmin isnan isinf isfinite sin cos tanh",
    "cuda/std/utility": "pair make_pair move forward swap",
    "cuda/std/optional": "optional nullopt",
}  # fmt: skip
_CUDA_HEADER_OF = {name: header for header, names in _LIBCUDACXX.items() for name in names.split()}


def _libcudacxx(text: str) -> list[str]:
    code = blank(text)
    names = set(re.findall(r"\bcuda\s*::\s*std\s*::\s*(\w+)", code))
    found = {_CUDA_HEADER_OF.get(name, "cuda/std/type_traits") for name in names}
    if re.search(r"\bcuda\s*::\s*(?:maximum|minimum)\b", code):
        found.add("cuda/functional")
    return sorted(found)


def _text(unit: Unit, sources: SourceSet, body: str) -> str:
    tail = unit.tail
    if unit is sources.units[0] and "TORCH_LIBRARY" in sources.text:
        tail += '\n#include "light/everything.h"\nLIGHT_LIBRARIES()\n'
    return body + tail + "\n"


def write_unit(unit: Unit, place: Path, prelude: str, text: str) -> None:
    """Put a unit's text and what precedes it where it is compiled."""
    (place / unit.filename).write_text(text, encoding="utf-8", errors="surrogatepass")
    (place / "prelude.h").write_text(prelude, encoding="utf-8")


def folders(unit: Unit, sources: SourceSet) -> list[str]:
    """The include folders that the candidate names, and the one of a file."""
    return [f"-I{f}" for f in (*sources.include, *((unit.folder,) if unit.folder else ()))]


def parse(sources: SourceSet, folder: Path, settings: Settings) -> None:
    """Parse every unit for the emulator, without making code. Raises CompileError."""

    def command(unit: Unit, place: Path) -> list[str]:
        how = toolkit.emulated_unit(settings, unit.is_device, False)
        given = _emulated(unit, sources, settings, place, how)
        return [*given[: given.index("-c")], "-fsyntax-only", *given[given.index("-c") + 1 : given.index("-o")]]

    compile_all(sources, folder, command)


def _emulated(
    unit: Unit, sources: SourceSet, settings: Settings, place: Path, how: toolkit.Compilation | None = None
) -> list[str]:
    how = how or toolkit.emulated_unit(settings, unit.is_device, has_volatile_code(unit.text))
    lines = []
    if unit is sources.units[0]:
        strict = 0 if any(has_return_in_macro(u.text) for u in sources.units) else 1
        # The module's objects lie in this unit, which itself may be a host unit without checks.
        checks = ["#define SIMT_CHECK"] if settings.check else []
        lines = [f"#define SIMT_STRICT_EXIT {strict}", *checks, '#include "definitions.h"']
    try:
        body = rewrite(unit.text) if unit.is_device else unit.text
    except RecursionError:
        raise CompileError(f"{unit.filename}: brackets are nested too deeply", None, "") from None
    write_unit(unit, place, _prelude(unit, sources, lines), _text(unit, sources, body))
    flags = language_flags(sources.device_flags if unit.is_device else sources.host_flags)
    return [
        *find_compiler().command,
        *how.flags,
        *how.include,
        "-include",
        "prelude.h",
        *folders(unit, sources),
        *flags,
        "-c",
        "-x",
        "c++",
        unit.filename,
        "-o",
        "unit.o",
    ]


# The parts of the standard library that every unit gets. A unit that names another part gets all of it.
_COMMON = frozenset(re.findall(r"\w+", """
    min max vector string to_string runtime_error invalid_argument logic_error exception tuple
    make_tuple get tie pair make_pair move forward swap optional nullopt make_optional array
    initializer_list numeric_limits int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
    size_t ptrdiff_t sqrt exp log log2 abs fabs pow floor ceil round sin cos tanh isnan isinf fmax fmin
    is_same is_same_v conditional_t enable_if_t decay_t remove_const_t remove_reference_t
    is_floating_point is_floating_point_v is_integral is_integral_v true_type false_type
    integral_constant stringstream ostringstream memcpy memset printf snprintf
"""))  # fmt: skip


def _omissions(unit: Unit) -> list[str]:
    """Macros that leave out of the headers what a device unit does not name: nvcc reads each header three times."""
    if not unit.is_device:
        return []
    text = blank(unit.text)
    out = []
    if not unit.tail and not re.search(r"\bpy::|pybind11|PYBIND11|TORCH_LIBRARY|wrap_pybind", text):
        out.append("#define LIGHT_WITHOUT_PYTHON 1")
    if not re.search(r"half|bf16|bfloat|fp16|__nv|_AND|REDUCED", text, re.I):
        out.append("#define LIGHT_WITHOUT_HALF 1")
    names = set(re.findall(r"\bstd\s*::\s*(\w+)", text))
    if names <= _COMMON and not re.search(r"using\s+(?:namespace\s+)?std\b", text):
        out.append("#define LIGHT_FEW_HEADERS 1")
    return out


def _native(unit: Unit, sources: SourceSet, settings: Settings, kit: nvcc.Toolkit, place: Path) -> list[str]:
    write_unit(unit, place, _prelude(unit, sources, _omissions(unit)), _text(unit, sources, unit.text))
    if unit.is_device:
        command = nvcc.device_command(
            kit,
            settings.arch,
            sources.device_flags,
            [*toolkit.definitions(), *toolkit.INCLUDE, *folders(unit, sources)],
        )
        return [*command, "-include", "prelude.h", "-c", "-x", "cu", unit.filename, "-o", "unit.o"]
    how = toolkit.host_unit(settings, kit.include)
    return [
        *find_compiler().command,
        *how.flags,
        *how.include,
        "-include",
        "prelude.h",
        *folders(unit, sources),
        *language_flags(sources.host_flags),
        "-c",
        "-x",
        "c++",
        unit.filename,
        "-o",
        "unit.o",
    ]
