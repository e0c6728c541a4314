"""Programs for the tests of the emulator: one cache a session, so that the headers are compiled once."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from kengine.simt import CompilerMissing, Fault, KernelFault, Program, build  # noqa: E402
from kengine.simt.toolchain import find_compiler  # noqa: E402

Build = Callable[..., Program]


@pytest.fixture(scope="session")
def simt_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of compiled programs; KENGINE_TEST_SIMT_CACHE keeps one between sessions."""
    try:
        find_compiler()
    except CompilerMissing as error:
        pytest.skip(str(error))
    kept = os.environ.get("KENGINE_TEST_SIMT_CACHE")
    return Path(kept) if kept else tmp_path_factory.mktemp("simt")


@pytest.fixture
def compile_source(simt_cache: Path) -> Build:
    """`build` with the session's cache."""

    def compile_it(source: str, **options: Any) -> Program:
        options.setdefault("filename", "kernel.cu")
        return build(source, cache=simt_cache, **options)

    return compile_it


@pytest.fixture(params=[False, True], ids=["fast", "check"])
def check(request: pytest.FixtureRequest) -> bool:
    """Both ways to run."""
    return bool(request.param)


@pytest.fixture
def fault_of(compile_source: Build) -> Callable[..., Fault]:
    """The fault that a launch must raise."""

    def run(
        source: str,
        grid: Any,
        block: Any,
        args: tuple[Any, ...],
        *,
        shared_bytes: int = 0,
        seconds: float = 20.0,
        **options: Any,
    ) -> Fault:
        program = compile_source(source, **options)
        program.seconds = seconds
        (name,) = program.kernels
        with pytest.raises(KernelFault) as caught:
            program.launch(name, grid, block, args, shared_bytes)
        return caught.value.fault

    return run
