"""What a built library leans on: libraries that it needs, operators and functions of vendors that it imports."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_ORDINARY = re.compile(
    r"(?:libc|libm|libdl|libpthread|librt|libutil|libgcc_s|libstdc\+\+|libc\+\+(?:abi)?|libgomp|libomp|libatomic|"
    r"ld-linux[-\w]*|linux-vdso|libpython[\d.]*\w*|libtorch\w*|libc10\w*|libshm|libcudart|libcuda|libnvrtc[-\w]*|"
    r"libamdhip64|libhiprtc[-\w]*|libhsa-runtime64|libkengine_\w+|libasan|libtsan|libubsan)\Z"
)
"""Libraries that every extension may need: they hold no operator, or torch's, whose use shows by name."""

VENDOR = re.compile(
    r"lib(?:cublas|cudnn|cufft|cusolver|cusparse|curand|cutensor|cutlass|nvjitlink|nccl|npp|nvinfer|hipblas|rocblas|"
    r"hipsolver|rocsolver|hipfft|rocfft|hipsparse|rocsparse|hiprand|rocrand|rccl|miopen|migraphx|composable|ck_|mkl|"
    r"openblas|blas|cblas|lapack|blis|atlas|flexiblas|armpl|onednn|dnnl|mkldnn|nnpack|xnnpack|tensorrt|neuron|nrt)\w*",
    re.IGNORECASE,
)
"""Names of libraries that compute: linear algebra, convolutions, transforms, of vendors and for the host."""

_FUNCTION = re.compile(
    r"(?:(?:cu|hip|roc)(?:blas|blasLt|fft|solver|sparse|rand|tensor)[A-Z_]\w*|cudnn[A-Z]\w*|nccl[A-Z]\w*|rccl[A-Z]\w*|"
    r"(?:roc)(?:blas|fft|solver|sparse|rand)_\w+|miopen[A-Z]\w*|hipblaslt\w*|cutensor\w+|cblas_\w+|LAPACKE_\w+|"
    r"mkl_\w+|MKL_\w+|vd?[sd]?[A-Z]\w+_mkl|dnnl_\w+|openblas_\w+|[sdczh](?:gemm|gemv|symm|syrk|trsm|trmm|getrf|getrs|potrf|"
    r"gesv|gesvd|geqrf|syev)_?)\Z"
)
_OPERATOR = re.compile(r"(?:at|torch)::_ops::(\w+)::(?:call|redispatch)\b")
_NATIVE = re.compile(r"(?:at|torch)::(?:native|nn|linalg|special|fft|sparse|jit|autograd::generated)::[\w:~]+")
_DISPATCHER = re.compile(r"c10::Dispatcher::(findSchema\w*|findOp\w*|callBoxed)")
_FREE = re.compile(r"at::(\w+)\(")
_THREAD = "std::thread::_M_start_thread"


@dataclass(frozen=True)
class Linkage:
    """libraries: needed ones by file name, without those of every extension. operators: `at::mm`, `cublasSgemm_v2`."""

    libraries: tuple[str, ...]
    operators: tuple[str, ...]


def is_readable() -> bool:
    """Whether libraries can be read here: it takes pyelftools."""
    return importlib.util.find_spec("elftools") is not None


@functools.lru_cache(maxsize=64)
def read(library: Path) -> Linkage | None:
    """What a shared library needs and imports; None for what is no such file, and without pyelftools."""
    if not is_readable():
        return None
    from elftools.common.exceptions import ELFError
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile

    needed: list[str] = []
    imported: list[str] = []
    try:
        with library.open("rb") as file:
            for segment in ELFFile(file).iter_segments("PT_DYNAMIC"):
                if isinstance(segment, DynamicSegment):
                    tags: Any = segment.iter_tags("DT_NEEDED")
                    needed += [str(tag.needed) for tag in tags]
                    imported += [str(s.name) for s in segment.iter_symbols() if s["st_shndx"] == "SHN_UNDEF"]
    except (OSError, ELFError, ValueError, KeyError, TypeError, AttributeError, UnicodeDecodeError):
        return None
    return Linkage(unusual(needed), operators(imported))


def unusual(libraries: Iterable[str]) -> tuple[str, ...]:
    """Those of some file names that not every extension needs, sorted."""
    names = {Path(name).name for name in libraries}
    return tuple(sorted(name for name in names if not _ORDINARY.match(re.sub(r"\.so[.\d]*\Z", "", name))))


def operators(symbols: Iterable[str]) -> tuple[str, ...]:
    """Operators among imported symbols, sorted: torch's as `at::mm`, functions of vendors' libraries as they are."""
    found: set[str] = set()
    for symbol in symbols:
        bare = symbol.partition("@")[0]
        if _FUNCTION.match(bare):
            found.add(bare)
        elif bare == "pthread_create":
            found.add("std::thread")
        elif bare.startswith("_Z"):
            found.add(_operator(demangle(bare)))
    return tuple(sorted(found - {""}))


def _operator(name: str) -> str:
    """The operator that a demangled function is, "" when it is none. Threads, in which none can be seen, are one."""
    if name.startswith(_THREAD):
        return "std::thread"
    for pattern in (_OPERATOR, _FREE):
        match = pattern.match(name)
        if match:
            known = _schemas().get(match[1], match[1] if pattern is _OPERATOR else "")
            return f"at::{known}" if known else ""
    match = _DISPATCHER.match(name) or _NATIVE.match(name)
    return match[0].partition("(")[0] if match else ""


@functools.lru_cache(maxsize=1)
def _schemas() -> dict[str, str]:
    """Operators of torch by the names that its C++ gives to their overloads: add_Tensor -> add."""
    import sys

    torch = sys.modules.get("torch")
    if torch is None:
        return {}
    every = [name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    return {name.replace(".", "_"): name.partition(".")[0] for name in every} | {
        base: base for base in (name.partition(".")[0] for name in every)
    }


@functools.lru_cache(maxsize=4096)
def demangle(symbol: str) -> str:
    """A C++ symbol as it is written, with its parameters; the symbol itself where it cannot be told."""
    function, free = _demangler()
    if function is None or free is None:
        return symbol
    status = ctypes.c_int()
    address = function(symbol.encode(), None, None, ctypes.byref(status))
    if not address:
        return symbol
    text = ctypes.string_at(address).decode(errors="replace")
    free(address)
    return text


@functools.lru_cache(maxsize=1)
def _demangler() -> tuple[ctypes._NamedFuncPointer | None, ctypes._NamedFuncPointer | None]:
    """The demangler of the C++ library's ABI part, where one is installed."""
    for name in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            function = ctypes.CDLL(name).__cxa_demangle
            free = ctypes.CDLL(None).free
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        function.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        free.argtypes = [ctypes.c_void_p]
        return function, free
    return None, None
