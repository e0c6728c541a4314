"""One device source to one code object, by the toolchain of this machine."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kengine_hip.chips import Chip
from kengine_hip.constants import make_constants
from kengine_hip.toolchain import INCLUDE, Toolchain, compiler_environment

COMPILE_SECONDS = 300
"""How long one run of the compiler may take."""

# What the C++ library wants to know of its surroundings (its headers come without the file that says so).
_LIBCXX = tuple(
    f"-D_LIBCPP_{text}"
    for text in (
        "ABI_VERSION=1", "ABI_NAMESPACE=__1", "HARDENING_MODE_DEFAULT=_LIBCPP_HARDENING_MODE_NONE",
        "ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_ENFORCE", "HAS_THREADS=1", "HAS_MONOTONIC_CLOCK=1",
        "HAS_TERMINAL=1", "HAS_LOCALIZATION=1", "HAS_UNICODE=1", "HAS_WIDE_CHARACTERS=1", "HAS_FILESYSTEM=1",
        "HAS_RANDOM_DEVICE=1", "HAS_THREAD_API_PTHREAD=1", "HAS_THREAD_API_EXTERNAL=0", "HAS_THREAD_API_WIN32=0",
        "HAS_THREAD_API_C11=0", "HAS_MUSL_LIBC=1", "HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
        "HAS_TIME_ZONE_DATABASE=0", "INSTRUMENTED_WITH_ASAN=0", "PSTL_BACKEND_SERIAL",
    )
)  # fmt: skip
_COMMON = ("-O3", "-std=c++17", "-w", "-fno-color-diagnostics", "-ferror-limit=20", "-fmacro-backtrace-limit=1")
_NO_CHIP = re.compile(r"error: (invalid target ID|unknown target CPU|cannot find ROCm device library for)[^\n]*")
_WAVES = re.compile(r"^\s*\.amdhsa_kernel (\S+)|^; Occupancy: (\d+)", re.MULTILINE)


class Refused(Exception):
    """The compiler refused a source; its messages."""

    def __init__(self, log: str) -> None:
        super().__init__("compilation failed")
        self.log = log


class ChipUnknown(Exception):
    """The compiler of this machine cannot compile for the chip; it says nothing about the source."""


@dataclass(frozen=True)
class CodeObject:
    """What was compiled. data: the ELF file. waves: of a SIMD, by the compiler's own count, for each kernel that it
    says it of."""

    data: bytes
    waves: dict[str, int]
    seconds: float = 0.0


@dataclass(frozen=True)
class Surroundings:
    """What a source finds around it. standard: headers of the C++ library stand in front, as AMD's runtime header has
    them. cuda: CUDA's names and headers are known too. headers: of torch, in front; light ones take their place."""

    standard: bool = False
    cuda: bool = False
    headers: tuple[str, ...] = ()


def compile_source(
    toolchain: Toolchain, chip: Chip, text: str, filename: str, options: Sequence[str], folder: Path,
    around: Surroundings,
) -> CodeObject:  # fmt: skip
    """Compile for one chip. `folder` is private and writable; `options` are the compiler's own.

    Raises Refused, with lines of `text` under `filename`; ChipUnknown when the compiler does not know the chip.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as temporary:
        place = Path(temporary)
        source = place / "source" / filename
        source.parent.mkdir()
        source.write_text(text, encoding="utf-8", errors="surrogateescape")
        if toolchain.kind == "rocm":
            out = place / "out.co"
            # A bundle of one code object; reading it looks inside.
            command = [*toolchain.command, "--genco", f"--offload-arch={chip.arch}", *_COMMON, *_more(around), *options]
            command += ["-include", "hip/hip_runtime.h", "-x", "hip", filename, "-o", str(out)]
            try:
                _run(command, source.parent)
            except Refused as refusal:
                if problem := _NO_CHIP.search(refusal.log):
                    raise ChipUnknown(f"{toolchain.name} cannot compile for {chip.arch}: {problem[0]}") from None
                raise
            return CodeObject(out.read_bytes(), {})
        return _by_parts(toolchain, chip, filename, options, place, folder, around)


def _by_parts(
    toolchain: Toolchain, chip: Chip, filename: str, options: Sequence[str], place: Path, folder: Path,
    around: Surroundings,
) -> CodeObject:  # fmt: skip
    """Compile to assembly, assemble, link: the clang of the package starts no other programs."""
    assert toolchain.libraries is not None
    library = toolchain.root / "lib"
    linked = (toolchain.libraries / "ocml.bc", toolchain.libraries / "ockl.bc", make_constants(toolchain, chip, folder))
    system = (library / "libcxx/include", library / "include", *(
        library / "libc/include" / name for name in ("x86_64-linux-musl", "generic-musl", "x86_64-linux-any",
                                                     "any-linux-any")))  # fmt: skip
    assembly, thing, out = place / "out.s", place / "out.o", place / "out.co"
    command = [
        *toolchain.command, "-x", "hip", f"--offload-arch={chip.arch}", "--cuda-device-only", "-nogpuinc", "-nogpulib",
        "-nostdinc", "-nostdinc++", "-fdeclspec", *_COMMON, *_LIBCXX, f"-DKENGINE_WAVE={chip.lanes}",
        f"-isystem{INCLUDE}", *(f"-isystem{folder}" for folder in system), "-include", "hip/hip_runtime.h",
        *(("-include", "kengine_hip/standard.h") if around.standard else ()), *_more(around), *options,
        *(part for path in linked for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(path))),
        filename, "-S", "-o", str(assembly),
    ]  # fmt: skip
    _run(command, place / "source")
    target = ("-target", "amdgcn-amd-amdhsa", f"-mcpu={chip.arch}")
    _run([*toolchain.command, *target, "-c", str(assembly), "-o", str(thing)], place)
    _run([toolchain.command[0], "ld.lld", "-shared", str(thing), "-o", str(out)], place)
    return CodeObject(out.read_bytes(), _waves(assembly.read_text(encoding="utf-8", errors="replace")))


def _more(around: Surroundings) -> tuple[str, ...]:
    """Options for CUDA's names, and for torch's headers."""
    found: list[str] = []
    if around.cuda:
        found += [f"-isystem{INCLUDE / 'cuda'}", "-include", "kengine_cuda_names.h"]
    if around.headers:
        found += [*(f"-isystem{folder}" for folder in light_folders()), "-include", "kengine_hip/extension.h"]
        found += [part for header in around.headers for part in ("-include", header)]
    return tuple(found)


def light_folders() -> tuple[Path, ...]:
    """Folders of the light headers that stand for torch's."""
    import kengine.extension

    root = Path(kengine.extension.__file__).parent
    return root / "include", root / "device", root


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, env=compiler_environment(), capture_output=True, text=True, errors="replace",
            timeout=COMPILE_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise Refused(f"error: the compiler has not finished after {COMPILE_SECONDS} s") from None
    if done.returncode:
        raise Refused(done.stderr + done.stdout or f"error: the compiler ended with code {done.returncode}")


def _waves(assembly: str) -> dict[str, int]:
    """Waves of a SIMD that the compiler prints behind each kernel."""
    found: dict[str, int] = {}
    name = ""
    for kernel, count in _WAVES.findall(assembly):
        if kernel:
            name = kernel
        elif name:
            found.setdefault(name, int(count))
    return found
