"""A vendor's library does the work.

What it does:
Finds calls of rocBLAS, hipBLAS, hipBLASLt, MIOpen, hipFFT, hipSPARSE, rocSOLVER and Composable Kernel in device texts.

Why is this bad:
What is judged is then AMD's kernel, not the candidate's. A task may permit a library: `allow = ["hipblas"]`.

Example:
    hipblasSgemm(handle, HIPBLAS_OP_N, HIPBLAS_OP_N, n, n, n, &one, b, n, a, n, &zero, c, n);

Use instead:
    A kernel of your own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.rule import Context, Hit

from kengine_hip.lint.text import DeviceText, TextRule

_CALL = re.compile(
    r"\b(rocblas_|hipblas(?:Lt)?|miopen|hipfft|rocfft_|hipsparse|rocsparse_|rocsolver_|hipsolver|cublas(?:Lt)?|cudnn)"
    r"([A-Za-z_]\w*)\s*\(|\b(ck(?:_tile)?)::(\w+)"
)


def check(text: DeviceText, context: Context) -> Iterator[Hit]:
    """Look at every call."""
    for match in _CALL.finditer(text.code):
        library = (match.group(1) or match.group(3)).rstrip("_")
        if not context.allows(library, library.lower()):
            yield Hit(text.line(match.start()), f"{match.group(0).rstrip('(').strip()} is a kernel of {library}")


RULE = TextRule("KH104", "kernel-library", "reject", check, __doc__)
