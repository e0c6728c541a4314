"""Running the compiler: what never ends is the candidate's fault, what was starved is the machine's."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from kengine.errors import InfraError
from kengine.simt import CompileError, processes, toolchain

SPIN, SLEEP = "while True: pass", "import time; time.sleep(60)"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "COMPILE_SECONDS", 3)


def test_a_compiler_that_got_no_processor_is_the_machines_fault(tmp_path: Path) -> None:
    with pytest.raises(InfraError, match=r"in which it had 0 s of a processor: the machine is too busy"):
        toolchain.run([sys.executable, "-c", SLEEP], tmp_path)


def test_a_compiler_that_never_ends_is_the_candidates_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = processes.find_family
    monkeypatch.setattr(processes, "find_family", lambda root: dict.fromkeys(real(root), 2.9))
    with pytest.raises(CompileError, match="the compiler has not finished after 3 s"):
        toolchain.run([sys.executable, "-c", SPIN], tmp_path)


def test_processor_time_counts_the_children_and_they_end_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[dict[int, float]] = []
    real = processes.find_family
    monkeypatch.setattr(processes, "find_family", lambda root: seen.append(real(root)) or dict.fromkeys(seen[0], 0.0))
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SPIN!r}])"
    with pytest.raises(InfraError):
        toolchain.run([sys.executable, "-c", child], tmp_path)
    (family,) = seen
    assert len(family) == 2 and sum(family.values()) > 0.05
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and any(map(_lives, family)):
        time.sleep(0.05)
    assert not any(map(_lives, family))


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_messages_of_a_failure_are_kept(tmp_path: Path) -> None:
    with pytest.raises(CompileError) as caught:
        toolchain.run([sys.executable, "-c", "import sys; sys.exit('no such flag')"], tmp_path)
    assert caught.value.log == "no such flag\n"


def test_flags_that_a_compiler_does_not_know_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    if toolchain.find_compiler().is_clang:
        pytest.skip("flags of g++")
    monkeypatch.setattr(toolchain, "_SMALL", ("-fno-tree-sra", "-fno-such-pass-of-any-compiler", "-fno-dse"))
    assert toolchain.small_flags.__wrapped__() == ("-fno-tree-sra", "-fno-dse")
    monkeypatch.setattr(toolchain, "_SMALL", ("-fno-tree-sra",))
    assert toolchain.small_flags.__wrapped__() == ("-fno-tree-sra",)


def test_only_checked_code_is_compiled_with_fewer_passes() -> None:
    fast, checked = (toolchain.Mode(32, False, check, False).flags() for check in (False, True))
    assert not set(toolchain.small_flags()) & set(fast)
    assert set(toolchain.small_flags()) <= set(checked) or toolchain.find_compiler().is_clang
