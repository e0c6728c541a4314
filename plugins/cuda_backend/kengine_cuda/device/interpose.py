"""The library between extensions and the CUDA runtime that sees and withholds launches."""

from __future__ import annotations

import ctypes as c
import functools
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("interpose.cpp")
WRAPPED = ("cudaLaunchKernel", "__cudaLaunchKernel", "__cudaLaunchKernel_ptsz", "cudaLaunchCooperativeKernel")
LINK = tuple(f"-Wl,--wrap={name}" for name in WRAPPED)
"""Linker flags of an extension whose launches go through the library."""


def find_library(folder: Path) -> Path:
    """The library, built into a folder at first use. Raises kengine.simt.CompilerMissing or CompilerUnusable."""
    from kengine.simt.toolchain import find_compiler, identity, locked, run_own

    digest = hashlib.sha256(SOURCE.read_bytes() + identity().encode()).hexdigest()[:16]
    library = folder / f"libkengine_launches_{digest}.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder / "launches.lock"), tempfile.TemporaryDirectory(dir=folder) as place:
        out = Path(place, library.name)
        flags = ["-O2", "-std=c++17", "-fPIC", "-shared", f"-Wl,-soname,{library.name}"]
        run_own([*find_compiler().command, *flags, str(SOURCE), "-o", str(out)], folder)
        os.replace(out, library)
    return library


_Observer = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.POINTER(c.c_ulonglong), c.c_size_t, c.c_void_p)


@contextmanager
def observed(launches: c.CDLL, launch: Callable[[str, list[int], int], AbstractContextManager[None]]) -> Iterator[None]:
    """Inside the block, let each launch of this thread happen inside of `launch(kernel, words of its arguments, handle
    of its stream)`."""
    under_way: list[AbstractContextManager[None]] = []

    def told(begins: int, kernel: bytes, words: Any, count: int, stream: int | None) -> None:
        if begins:
            made = launch(kernel.decode(errors="replace"), [words[i] for i in range(count)], stream or 0)
            made.__enter__()
            under_way.append(made)
        elif under_way:
            under_way.pop().__exit__(None, None, None)

    kept = _Observer(told)
    launches.kengine_launches_observe(c.cast(kept, c.c_void_p))
    try:
        yield
    finally:
        launches.kengine_launches_observe(None)


@functools.cache
def load(library: Path) -> c.CDLL:
    """Load it for the whole process, so that extensions find its functions."""
    loaded = c.CDLL(str(library), mode=c.RTLD_GLOBAL)
    loaded.kengine_launches_name.restype = c.c_char_p
    return loaded
