"""C++ code calls a library of kernels.

What it does:
Finds calls and types of cuBLAS, cuBLASLt, cuDNN, cuSPARSE, cuSOLVER, cuFFT, hipBLAS, rocBLAS, MIOpen, Composable Kernel
and of CUTLASS's ready-made device operators in C++ sources, macros expanded. Thrust, CUB, CuTe and parts of CUTLASS are
a warning: they are parts of kernels as well.

Why is this bad:
What is judged is then the vendor's kernel, not the candidate's. A task may permit a library: `allow = ["cublas"]`.

Example:
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, c, n);

Use instead:
    A kernel of your own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule, Severity
from kengine.lint.source import SourceTree

_CALL = re.compile(
    r"(rocblas|hipblas|hipblaslt|miopen|hipfft|rocfft|hipsparse|rocsparse|rocsolver|hipsolver|cublas|cublaslt|cublasxt|"
    r"cudnn|cusparse|cusparselt|cusolver|cufft|cutensor|nvpl)(?:_|(?=[A-Z]))\w+\Z",
    re.I,
)
_SPACES = {
    "thrust": "thrust",
    "cub": "cub",
    "hipcub": "hipcub",
    "rocprim": "rocprim",
    "rocthrust": "rocthrust",
    "ck": "composable_kernel",
    "ck_tile": "composable_kernel",
    "cutlass": "cutlass",
    "cudnn_frontend": "cudnn",
}
_SETTING = re.compile(
    r"(?:set|get)\w*(?:Stream|Version|Status|ErrorString|Workspace|PointerMode|MathMode)|create|destroy", re.I
)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at names that are called."""
    native = find_native(source)
    for cpp, name in native.names():
        last = name.parts[-1]
        match = _CALL.match(last) if not name.member and last not in native.declared else None
        library = match[1].lower() if match and name.arguments is not None else ""
        severity: Severity = "reject"
        if library and match and _SETTING.match(last[len(match[1]) :].lstrip("_")):
            severity = "warn"
        elif not library and len(name.parts) > 1 and not name.member:
            library = _SPACES.get(name.parts[0], "")
            ready = {"device", "tensor_operation", "gemm"} & set(name.parts[1:])
            severity = "reject" if library == "composable_kernel" or (library == "cutlass" and ready) else "warn"
            if library == "cutlass" and not ready:
                library = ""
        if library and not context.allows(library, last, name.parts[0], library.removesuffix("lt")):
            yield cpp.hit(name.at, f"{name.text} is a kernel of {library}; write one of your own", severity)


RULE = Rule("KE402", "native-library", "reject", check, __doc__, ALL)
