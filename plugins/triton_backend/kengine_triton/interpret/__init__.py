"""Mends for Triton's interpreter, one idea a file; `install` applies all of them to this process.

A process that interprets cannot compile for a chip (Triton decides at import, from TRITON_INTERPRET), so this is
only ever installed in a runner whose zygote started with TRITON_INTERPRET=1.
"""

from __future__ import annotations

import os

_installed = False


def install() -> None:
    """Mend the interpreter of this process, once. TRITON_INTERPRET=1 must be set before triton is imported."""
    global _installed
    if _installed:
        return
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("TRITON_INTERPRET=1 is not set: this process compiles kernels and cannot interpret them")
    # `grammar` asks it while a kernel runs, when the interpreter has put `print` in the language: Python 3.10 knows no
    # signature of that, and Triton could not be loaded further.
    import triton.compiler.code_generator  # noqa: F401

    from kengine_triton.interpret import (
        arithmetic,
        assertion,
        atomic,
        autotune,
        builder,
        cast,
        dot,
        libdevice,
        memory,
        reduction,
        references,
        rewriting,
        scalar,
        unsupported,
        warmup,
    )

    for part in (
        builder, scalar, arithmetic, cast, dot, reduction, memory, atomic, libdevice, assertion, rewriting,
        references, autotune, unsupported, warmup,
    ):  # fmt: skip
        part.install()
    _installed = True
