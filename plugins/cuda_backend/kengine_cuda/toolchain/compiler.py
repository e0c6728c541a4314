"""A device source made into a binary for one chip, by NVRTC where it serves and nvcc where it does not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from kengine.errors import CandidateFault
from kengine.native import faults
from kengine.native.driver import Unit
from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank

from kengine_cuda.chips import Chip
from kengine_cuda.toolchain import device_text, nvcc, nvrtc
from kengine_cuda.toolchain.places import Places, find_places
from kengine_cuda.toolchain.ptxas import Usage, plain_name, read_usage

_KEPT = re.compile(
    r"(?:-D|-U|--define-macro=|--undefine-macro=|-?-use_fast_math|-?-fmad=|-?-ftz=|-?-prec-(?:div|sqrt)=|"
    r"-?-maxrregcount=|-?-extra-device-vectorization|-?-restrict|-dlcm=)"
)
_NVCC_ONLY = re.compile(r"-?-(?:expt-)?(?:extended-lambda|relaxed-constexpr)")
"""Those of the language that NVRTC, to which all code is the device's, does not know."""
_ERROR = re.compile(
    r"^(?P<file>[^\s(]+)\((?P<line>\d+)\): (?:catastrophic )?error\s*:?\s*(?:#\S+ )?(?P<text>.*)$", re.MULTILINE
)
_GCC_ERROR = re.compile(r"^(?P<file>[^\s:(]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_AT_END = re.compile(r"^At end of source: error\s*:?\s*(?:#\S+ )?(?P<text>.*)$", re.MULTILINE)
_LIBRARY = re.compile(
    r"(?:source file \"|error: )(?P<name>(?:cutlass|cute|cub|thrust|cuda/std|raft|flashinfer|cudnn\w*|nccl|cublas\w*"
    r"|cufft\w*|cusparse\w*|cusolver\w*|curand\w*|nvshmem\w*)(?:/[\w./]*)?(?:\.\w+)?)(?:\"|: No such file)"
)
_PTXAS_ERROR = re.compile(r"^ptxas (?:error|fatal)\s*:\s*(?P<text>.*)$", re.M)


_HOST_WORDS = re.compile(r"\b(?:at|c10|torch|std)\b|scalar_t|\bHalf\b|BFloat16|identifier")
Style = Literal["plain", "file", "extension"]


@dataclass(frozen=True)
class Binary:
    """Code for one chip. symbols: mangled name by the kernel's own name, and by instance where those were asked for.
    by: the compiler."""

    image: bytes
    symbols: Mapping[str, str]
    usage: Mapping[str, Usage]
    log: str
    by: str


def compile_unit(unit: Unit, chip: Chip, workdir: Path, path: str, style: Style) -> Binary:
    """Compile a source. path: the candidate's file, for messages. style: "plain" is device code only, as CuPy gives it
    to NVRTC; "file" may hold host code; "extension" is the device source of an extension of torch.

    Raises CandidateFault: compile_failed with the candidate's line, unsupported where no compiler is installed.
    """
    places = find_places()
    if places.problem:
        raise CandidateFault("unsupported", places.problem)
    if places.nvrtc:
        try:
            return _with_nvrtc(unit, chip, places, style)
        except nvrtc.NvrtcCrashed as crash:
            if not places.nvcc:
                raise CandidateFault("unsupported", str(crash)) from None
        except nvrtc.NvrtcError as error:
            # Host code may be what NVRTC stumbles over: nvcc decides, where there is one.
            if style == "plain" or not places.nvcc:
                fault = _fault(str(error), error.log, unit, path)
                if style == "extension" and _HOST_WORDS.search(fault.message):
                    reason = f"needs nvcc, NVRTC does not understand the host's types: {fault.message}"
                    raise CandidateFault("unsupported", reason, fault.log, fault.line) from None
                raise fault from None
    try:
        return _with_nvcc(unit, chip, places, workdir, style)
    except nvcc.NvccError as error:
        if style == "extension":
            # The host's code may name what the light headers lack; the kernels can do without it.
            device = replace(unit, text=device_text.device_part(unit.text))
            with suppress(nvcc.NvccError):
                return _with_nvcc(device, chip, places, workdir, style)
        raise _fault(str(error), error.log, unit, path) from None


def _with_nvrtc(unit: Unit, chip: Chip, places: Places, style: Style) -> Binary:
    text = unit.text if style == "plain" else device_text.device_part(unit.text)
    options = [f"-arch={chip.arch}", "--ptxas-options=-v"]
    options += [*_options(unit.options), *(f"-I{folder}" for folder in places.includes)]
    if style != "plain":
        options.append(f"--pre-include={device_text.PRELUDE}")
    headers = {} if style == "plain" else device_text.HEADERS
    if style == "extension" and (torch := device_text.torch_header(text, " ".join(unit.instances))):
        options.append(f"--pre-include={device_text.TORCH}")
        headers = {**headers, device_text.TORCH: torch}
    try:
        made = nvrtc.compile_source(places.nvrtc, text, unit.filename, options, unit.instances, headers)
    except nvrtc.NvrtcError as error:
        others = device_text.with_long_long(error.log)
        if not others:
            raise
        made = nvrtc.compile_source(places.nvrtc, text, unit.filename, options, unit.instances, {**headers, **others})
    usage = read_usage(made.log)
    symbols = {**{plain_name(symbol): symbol for symbol in usage}, **made.lowered}
    return Binary(made.binary, _complete(symbols), usage, made.log, "nvrtc {}.{}".format(*made.release))


def _with_nvcc(unit: Unit, chip: Chip, places: Places, workdir: Path, style: Style) -> Binary:
    options = [f"-arch={chip.arch}", "-Xptxas", "-v", *_options(unit.options)]
    options += [option for option in unit.options if _NVCC_ONLY.fullmatch(str(option))]
    if style == "extension":
        from kengine.extension.toolkit import INCLUDE

        options += [*INCLUDE, "--expt-relaxed-constexpr", "-DTORCH_EXTENSION_NAME=extension"]
        options += ["-include", "torch/types.h", "-include", "cuda_runtime.h"]
    image, log = nvcc.compile_source(places.nvcc, unit.text, unit.filename, options, unit.instances, workdir)
    usage = read_usage(log)
    symbols = {plain_name(symbol): symbol for symbol in usage}
    symbols |= {instance: found for instance in unit.instances if (found := _find_instance(instance, usage))}
    return Binary(image, _complete(symbols), usage, log, "nvcc")


def _options(options: Iterable[str]) -> list[str]:
    """The candidate's options that mean something for any chip; the language standard once."""
    given = _joined(options)
    kept = [option for option in given if _KEPT.match(option)]
    standard = [m[1] for option in given if (m := re.match(r"--?std=(?:c|gnu)\+\+(\w+)\Z", option))]
    return [f"-std=c++{standard[-1] if standard else '17'}", *kept]


def _joined(options: Iterable[str]) -> list[str]:
    """Options with a value of their own (`-D`, `NAME`) as one word."""
    given = iter(str(option) for option in options)
    out = [option + next(given, "") if option in ("-D", "-U") else option for option in given]
    return [option for option in out if option not in ("-D", "-U")]


def _complete(symbols: dict[str, str]) -> dict[str, str]:
    """Names without their scopes too, where that leaves no doubt."""
    bare: dict[str, list[str]] = {}
    for name, symbol in symbols.items():
        bare.setdefault(name.rpartition("::")[2] if "<" not in name else name, []).append(symbol)
    return {**{name: found[0] for name, found in bare.items() if len(set(found)) == 1}, **symbols}


_HIP = re.compile(r"\bhip(?:cub|rand|blas)?/\w+\.(?:h|hpp)\b|\bhip[A-Z]\w+|\b__hip_\w+|\b__builtin_amdgcn_\w+")
_SHUFFLE = re.compile(r"\b__(?:shfl(?:_up|_down|_xor)?|ballot|any|all)\b(?!_)")
_CODES = {
    "float": "f", "double": "d", "int": "i", "unsigned int": "j", "unsigned": "j", "long": "l", "long long": "x",
    "unsigned long": "m", "unsigned long long": "y", "short": "s", "unsigned short": "t", "signed char": "a",
    "unsigned char": "h", "bool": "b", "char": "c",
}  # fmt: skip


def _find_instance(instance: str, usage: Mapping[str, Usage]) -> str:
    """The symbol of `scale<float, 4>` among mangled names."""
    name, _, arguments = instance.partition("<")
    base = name.strip().rpartition("::")[2]
    same = [symbol for symbol in usage if plain_name(symbol).rpartition("::")[2] == base]
    if len(same) == 1:
        return same[0]
    codes = ""
    for argument in arguments.rstrip("> ").split(","):
        word = argument.strip()
        codes += _CODES.get(word) or (f"Li{word}E" if word.isdigit() else _mangle(word))
    return next((symbol for symbol in same if f"I{codes}E" in symbol), "")


def _mangle(name: str) -> str:
    """A class's name as it stands in a symbol: `c10::Half` is `N3c104HalfE`."""
    parts = "".join(f"{len(part)}{part}" for part in name.split("::"))
    return f"N{parts}E" if "::" in name else parts


def _fault(message: str, log: str, unit: Unit, path: str) -> CandidateFault:
    every = sorted([*_ERROR.finditer(log), *_GCC_ERROR.finditer(log)], key=lambda match: match.start())
    first = next((m for m in every if m["file"].endswith(unit.filename)), every[0] if every else None)
    if first is not None:
        own = first["file"].endswith(unit.filename)
        line = int(first["line"]) if own else _included_at(first["file"], unit.text)
        library = _LIBRARY.search(first[0])
        if library:
            place = unit.lines.line(line)
            problem = f"there is no {library['name']} here: a library's header, which kengine's compilers do not bring"
            return CandidateFault("unsupported", problem + (f" (line {place})" if place else ""), log, place)
        text = first["text"] + explain_dialect(unit.text, first["text"], line)
        return faults.compile_fault(text, line, log, unit.filename, unit.lines, path)
    ended = _AT_END.search(log)
    if ended is not None:
        last = unit.text.rstrip().count("\n") + 1
        return faults.compile_fault(f"{ended['text']} at the end", last, log, unit.filename, unit.lines, path)
    refused = _PTXAS_ERROR.search(log)
    text = refused["text"] if refused else next((t for t in log.splitlines() if "error" in t.lower()), message)
    text += explain_dialect(unit.text, text)
    return faults.compile_fault(text, None, log, unit.filename, unit.lines, path)


def _included_at(file: str, source: str) -> int | None:
    """The line of a source that includes a header in which an error was reported; None when it does not itself."""
    for match in re.finditer(r"^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\n]+)", source, re.MULTILINE):
        if f"/{file}".endswith(f"/{match[1]}"):
            return source.count("\n", 0, match.start()) + 1
    return None


def explain_dialect(source: str, message: str, line: int | None = None) -> str:
    """What to add to an error that comes of HIP's language in a source for CUDA; "" for any other. line: of the
    source, on which it was found."""
    if old := _SHUFFLE.search(message):
        return f": that is HIP's, CUDA has {old[0]}_sync(mask, ...)"
    texts = source.split("\n")
    found = _HIP.search(message) or (_HIP.search(texts[line - 1]) if line and line <= len(texts) else None)
    if found is None and re.search(r"identifier|not declared", message):
        found = _HIP.search(source)
    return f" ({found[0]} is HIP's, and the language of the target is CUDA)" if found else ""


def kernels_of(source: str) -> tuple[str, ...]:
    """Names of the kernels in a text, templates included."""
    return tuple(dict.fromkeys(definition.name for definition in find_kernels(blank(source))))
