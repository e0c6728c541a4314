"""A compiler that is started before its source is there compiles what the driver would, and leaves nothing behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kengine.simt import CompileError, KernelFault, build, parts, standing, toolchain
from kengine.simt.toolchain import Mode

CHECKED = Mode(32, False, True, False)
SOURCE = """#include <cassert>
__global__ void add(int* y, int n) {
  y[threadIdx.x] += NUMBER;
}
const char* file() { return __FILE__; }
"""


@pytest.fixture
def cache(simt_cache: Path) -> Iterator[Path]:
    if toolchain.find_compiler().is_clang:
        pytest.skip("only the parts of a g++ are started themselves")
    before = set(simt_cache.glob("tmp*"))
    yield simt_cache
    assert standing._waiting == []
    assert set(simt_cache.glob("tmp*")) <= before


def _count(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the parts' way gives from now on, a path or None for each source."""
    given: list[Any] = []
    real = standing.compile_source
    monkeypatch.setattr(standing, "compile_source", lambda *a: given.append(real(*a)) or given[-1])
    return given


def _text() -> str:
    return SOURCE.replace("NUMBER", str(time.time_ns() % 1_000_000_000))


def test_a_source_is_compiled_by_the_one_that_waits(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _count(monkeypatch)
    text = _text()
    number = int(text.partition("+= ")[2].partition(";")[0])
    with standing.started("kernel.cu", CHECKED, (), cache):
        (ready,) = standing._waiting
        time.sleep(0.1)
        assert ready._front.poll() is None
        program = build(text, check=True, cache=cache)
        assert standing._waiting == [] and ready._front.returncode == 0
    assert made == [ready.directory / "unit.so"]
    y = np.arange(4, dtype=np.int32)
    program.launch("add", 1, 4, (y, 4))
    np.testing.assert_array_equal(y, np.arange(4) + number)


def test_without_one_that_waits_the_parts_are_started_then(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _count(monkeypatch)
    assert "add" in build(_text(), check=True, cache=cache).kernels
    assert made[0] is not None


@pytest.mark.parametrize("options", [("-DOTHER=1", "-DHEADER"), ("-I/tmp",), ("-std=c++20",)])
def test_one_for_other_options_is_not_used(
    cache: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    made = _count(monkeypatch)
    with standing.started("kernel.cu", CHECKED, (), cache):
        (ready,) = standing._waiting
        build(_text(), check=True, cache=cache, options=options)
        assert ready._front.returncode is not None and not ready.directory.exists()
    assert made[0] is not None and made[0].parent != ready.directory


def test_one_that_nobody_needs_ends_with_the_block(cache: Path) -> None:
    with pytest.raises(ZeroDivisionError), standing.started("kernel.cu", CHECKED, (), cache):
        (ready,) = standing._waiting
        raise ZeroDivisionError
    assert ready._front.returncode == -9 and not ready.directory.exists()


def test_an_error_is_told_in_the_drivers_words(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = _text().replace("+=", "+= undeclared +")
    logs = []
    for way in ("parts", "driver"):
        if way == "driver":
            monkeypatch.setattr(standing, "compile_source", lambda *a: None)
        with standing.started("kernel.cu", CHECKED, (), cache), pytest.raises(CompileError) as caught:
            build(text, check=True, cache=cache)
        assert caught.value.line == 3 and "kernel.cu:3: 'undeclared' was not declared" in str(caught.value)
        logs.append(caught.value.log)
    assert logs[0] == logs[1]


@pytest.mark.parametrize("name", ["kernel.cu", "a b.cu", 'quote".cu', "back\\slash.cu", "ä.cu"])
def test_faults_and_file_names_are_the_candidates(cache: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text = f"// {time.time_ns()}\n" + SOURCE.replace("NUMBER", "n").replace("threadIdx.x", "threadIdx.x + n")
    made = _count(monkeypatch)
    program = build(text, filename=name, check=True, cache=cache, exports=("file",))
    assert made[0] is not None
    with pytest.raises(KernelFault) as caught:
        program.launch("add", 1, 4, (np.zeros(4, np.int32), 1000))
    assert (caught.value.fault.file, caught.value.fault.line) == (name, 4)
    import ctypes

    assert ctypes.string_at(program.call("file")).decode() == name


def test_a_large_source_goes_through_the_pipe(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _count(monkeypatch)
    text = _text() + "".join(f"// {i} {'x' * 90}\n" for i in range(5000))
    with standing.started("kernel.cu", CHECKED, (), cache):
        assert "add" in build(text, check=True, cache=cache).kernels
    assert made[0] is not None


def test_a_compiler_that_died_is_replaced_by_the_driver(cache: Path) -> None:
    with standing.started("kernel.cu", CHECKED, (), cache):
        standing._waiting[0]._front.kill()
        standing._waiting[0]._front.poll()
        time.sleep(0.1)
        assert "add" in build(_text(), check=True, cache=cache).kernels


def test_a_source_that_is_never_done_is_the_candidates_fault(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "COMPILE_SECONDS", 2)
    text = """
    template <int N, long M> struct Deep {
      static constexpr long v = Deep<N - 1, 2 * M>::v + Deep<N - 1, 2 * M + 1>::v;
    };
    template <long M> struct Deep<0, M> { static constexpr long v = M; };
    __global__ void k(long* y) { y[0] = Deep<24, 1>::v; }
    """
    with standing.started("kernel.cu", CHECKED, (), cache):
        (ready,) = standing._waiting
        monkeypatch.setattr(standing.processes, "find_family", lambda pid: {pid: 2.0})
        with pytest.raises(CompileError, match=r"kernel.cu: the compiler has not finished after 2 s"):
            build(text, check=True, cache=cache)
    assert ready._front.returncode == -9


def test_an_assembler_that_cannot_be_started_is_the_drivers_to_tell(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _count(monkeypatch)
    monkeypatch.setattr(parts, "name_parts", lambda *a, real=parts.name_parts: (real(*a)[0], ["/no/such/as"]))
    assert "add" in build(_text(), check=True, cache=cache).kernels
    assert made == [None]


@pytest.mark.parametrize("lines", [[" clang -cc1"], [' "/x/cc1plus" "a"', " as -o b"], [], [" cc1plus |", " gas"]])
def test_a_driver_that_works_otherwise_is_left_to_itself(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> None:
    monkeypatch.setattr(parts, "_ask", lambda options: tuple(tuple(parts._arguments(line)) for line in lines))
    assert parts.name_parts(["-O1"], {}) is None and parts.name_linker(["-O1"], {}) is None


def test_arguments_are_read_as_a_shell_would() -> None:
    line = r' /usr/cc1plus -quiet -D "X=\"a b\"" "-rpath" "\$ORIGIN" "-march=znver3" -o - |'
    assert parts._arguments(line) == [
        "/usr/cc1plus", "-quiet", "-D", 'X="a b"', "-rpath", "$ORIGIN", "-march=znver3", "-o", "-", "|"
    ]  # fmt: skip
