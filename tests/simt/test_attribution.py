"""Whose fault a refusal is: no candidate pays for a compiler that does not build the emulator's own code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kengine.errors import TargetUnavailable
from kengine.simt import CompileError, CompilerUnusable, Unsupported, alignment, attribution, build, toolchain
from kengine.simt.toolchain import SOURCES, Mode, find_compiler, precompiled_header

GOOD = "__global__ void k(float* y) {\n  y[threadIdx.x] = 1.0f;\n}\n"
FAKE = """#!/bin/sh
case "$*" in *--version*) exec {real} "$@";; *-###*|*-print-prog-name*) exit 1;; esac
{body}
exec {real} "$@"
"""
IN_OURS = f'echo "{SOURCES}/simt/launch.h:176:3: error: expected unqualified-id" >&2; exit 1'
IN_A_MACRO = (
    "echo \"kernel.cu:3:1: error: expected identifier before '('\" >&2; "
    "echo \"launch.h:9:1: note: expanded from macro 'SIMT_KERNEL'\" >&2; exit 1"
)
FAKES = {
    "header": f'case "$*" in *c++-header*) {IN_OURS};; esac',
    "runtime": f'case "$*" in *runtime.cpp*) {IN_OURS};; esac',
    "units, in a header": f'case "$*" in *" -c -x c++ "*) {IN_OURS};; esac',
    "units, in a macro": f'case "$*" in *" -c -x c++ "*) {IN_A_MACRO};; esac',
    "flag": 'case "$*" in *-fwrapv*) echo "error: unrecognized command-line option -fwrapv" >&2; exit 1;; esac',
    "linker": 'case "$*" in *.o\\ -o*.so*) echo "collect2: fatal error: cannot find ld" >&2; exit 1;; esac',
    "silent": 'case "$*" in *-fwrapv*) exit 1;; esac',
}

Use = Callable[[str], None]


@pytest.fixture
def use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, simt_cache: Path) -> Iterator[Use]:
    """Have a compiler that differs from the machine's by some lines of shell."""
    real = " ".join(find_compiler().command)

    def made(body: str) -> None:
        path = tmp_path / "compiler"
        path.write_text(FAKE.format(real=real, body=body))
        path.chmod(0o755)
        monkeypatch.setenv(toolchain.VARIABLE, str(path))
        forget()

    yield made
    monkeypatch.undo()
    forget()


def forget() -> None:
    from kengine.simt import parts

    for remembered in (toolchain.find_compiler, toolchain.small_flags, toolchain.identity, parts._ask, parts._linker):
        remembered.cache_clear()
    attribution._compiled.clear()


@pytest.mark.parametrize("fake", FAKES)
def test_a_compiler_that_does_not_build_our_code_is_the_machines_fault(
    fake: str, use: Use, tmp_path: Path, simt_cache: Path
) -> None:
    ready = simt_cache if fake not in ("header", "runtime") else tmp_path / "cache"
    build(GOOD, cache=simt_cache)
    use(FAKES[fake])
    pattern = r"compiler \(.*does not build kengine's own code: .*KENGINE_SIMT_CXX"
    with pytest.raises(CompilerUnusable, match=pattern) as caught:
        build(f"// {fake}\n{GOOD}", cache=ready)
    assert isinstance(caught.value, TargetUnavailable)
    assert [p.name for p in ready.iterdir() if p.name.startswith("tmp")] == []


@pytest.mark.parametrize("body", ["exit 3", "kill -9 $$"])
def test_a_compiler_that_does_not_tell_its_version(body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "compiler"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    monkeypatch.setenv(toolchain.VARIABLE, str(path))
    with pytest.raises(CompilerUnusable, match=r"compiler --version failed.*install another"):
        toolchain.find_compiler.__wrapped__()
    path.write_bytes(b"\1\2\3")
    with pytest.raises(CompilerUnusable, match=r"compiler --version failed: .*Exec format error"):
        toolchain.find_compiler.__wrapped__()


def test_a_compiler_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(CompilerUnusable, match=r"cannot start the compiler .*gone: No such file"):
        toolchain.run([str(tmp_path / "gone"), "-c"], tmp_path)


def test_a_source_that_makes_the_compiler_crash_says_nothing_against_the_candidate(use: Use, simt_cache: Path) -> None:
    use('case "$*" in *kernel.cu*) echo "kernel.cu:2:3: internal compiler error: it fell" >&2; exit 4;; esac')
    with pytest.raises(Unsupported, match=r"makes its compiler crash \(.*internal compiler error"):
        build(f"// crash\n{GOOD}", cache=simt_cache)


MISUSES = {
    "own text": ("__global__ void k(float* y) {\n  y[0] = nothing;\n}", 2),
    "launch": ("__global__ void k(float* y, int n) {}\nvoid host(float* y) {\n  k<<<1, 1>>>(y);\n}", 3),
    "header": ("#include <cub/cub.cuh>\nstruct S {};\n__global__ void k(S* y) {\n  __shared__ cub::BlockReduce<S, 32>::"
               "TempStorage t;\n  y[0] = cub::BlockReduce<S, 32>(t).Sum(y[1]);\n}", None),
    "macro": ("#define float4 oops\n#include <cooperative_groups.h>\n__global__ void k(float4* y) {\n}", 3),
    "shared": ("__global__ void k(float* y) {\n  __shared__ Nothing s[4];\n  y[0] = 1;\n}", 2),
    "message": ('#error "internal compiler error: simt::Launcher"\n', 1),
}  # fmt: skip


@pytest.mark.parametrize("misuse", MISUSES)
def test_what_the_candidate_does_wrong_stays_its_fault(misuse: str, compile_source: Any, check: bool) -> None:
    source, line = MISUSES[misuse]
    with pytest.raises(CompileError) as caught:
        compile_source(source, check=check)
    assert line is None or caught.value.line == line


def test_a_compiler_that_is_killed_over_a_source_says_nothing_against_it(use: Use, simt_cache: Path) -> None:
    use('case "$*" in *kernel.cu*) kill -9 $$;; esac')
    with pytest.raises(Unsupported, match=r"crash \(.* ended by signal 9 \(Killed\) and said nothing"):
        build(f"// killed\n{GOOD}", cache=simt_cache)


def test_only_an_error_in_the_candidates_text_is_plain() -> None:
    for log in (
        "kernel.cu:3:5: error: no 'x'\n",
        "a.h:1: note: y\n/tmp/kernel.cu:3: fatal error: no\nx.h:1: error: simt\n",
    ):
        assert attribution.is_plain(log, "kernel.cu")
    macro = "kernel.cu:3:5: error: expected type\nnote: from macro 'SIMT_KERNEL'\n"
    for log in (macro, "launch.h:3:5: error: expected type\n", "g++: error: unrecognized option\n"):
        assert not attribution.is_plain(log, "kernel.cu")


@pytest.mark.parametrize("mode", [Mode(lanes, lanes == 64, check, lockstep) for lanes in (32, 64)
                                  for check in (False, True) for lockstep in (False, True)], ids=str)  # fmt: skip
def test_our_own_uses_compile(mode: Mode, simt_cache: Path, tmp_path: Path) -> None:
    compiler, header = find_compiler(), precompiled_header(mode, simt_cache)
    include = ["-include-pch", f"{header}.pch"] if compiler.is_clang else ["-include", str(header)]
    command = [*compiler.command, *mode.flags(), *include, "-include", "prelude.h", "-DX=(", "-c", "-x", "c++", "k.cu"]
    names = {path.stem for path in (SOURCES / "probe").glob("*.cu")} - ({"matrix"} if mode.lanes == 64 else set())
    assert names >= {attribution._ALWAYS, *attribution._PREFIXES} - {"matrix"}
    refused = attribution.probe([*command, "-o", "k.o"], sorted(names), tmp_path, alignment._compile)
    assert refused is None, refused.log
