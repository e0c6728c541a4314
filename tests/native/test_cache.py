"""Parts that are built once for a machine: one folder for each combination, links in each runner's own."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kengine.errors import InfraError
from kengine.native import cache, retention
from kengine.simt import CompilerUnusable

NEEDS_COMPILER = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="needs a C++ compiler on this machine"
)


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    held: dict[Path, int] = {}
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_prepared", [])
    monkeypatch.setattr(retention, "_held", held)
    yield
    for fd in held.values():
        os.close(fd)


@NEEDS_COMPILER
def test_what_another_version_built_lies_elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from kengine.simt import toolchain

    first = cache.parts_folder()
    assert first == cache.parts_folder() and first.parent == tmp_path / "cache" / "simt"
    (first / "libpart.so").write_text("mine")
    monkeypatch.setattr(toolchain, "identity", lambda: "another compiler")
    second = cache.parts_folder()
    assert second != first
    (second / "libother.so").write_text("another's")
    own = cache.make_private(tmp_path / "work")
    assert [p.name for p in own.iterdir()] == ["libother.so"]


@NEEDS_COMPILER
def test_a_runner_links_to_parts_and_not_to_locks_programs_or_what_is_under_way(tmp_path: Path) -> None:
    folder = cache.parts_folder()
    for name in ("libpart.so", "part.lock", "part.part", "program-1.so", "tmpabc"):
        (folder / name).write_text(name)
    (folder / "header-1").mkdir()
    own = cache.make_private(tmp_path / "work")
    assert sorted(p.name for p in own.iterdir()) == ["header-1", "libpart.so"]
    assert (own / "libpart.so").read_text() == "libpart.so"
    assert cache.make_private(tmp_path / "work") == own


@NEEDS_COMPILER
def test_combinations_that_nobody_uses_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = cache.parts_folder()
    others = [folder.parent / f"{number:016x}" for number in range(5)]
    for hours, place in enumerate(others, 2):
        place.mkdir()
        (place / "part").write_text("x")
        then = time.time() - hours * 3600
        os.utime(place, (then, then))
    past = time.time() - cache.UNUSED_S - 60
    os.utime(folder, (past, past))
    assert cache.parts_folder() == folder
    left = sorted(p.name for p in folder.parent.iterdir())
    assert left == sorted([folder.name, f"{folder.name}.used", *(place.name for place in others[: retention.KEPT])])


def test_what_is_old_in_a_folder_is_removed(tmp_path: Path) -> None:
    old, used, file = tmp_path / "old", tmp_path / "used", tmp_path / "libold.so"
    for place in (old, used):
        place.mkdir()
        (place / "part").write_text("x")
    file.write_text("x")
    past = time.time() - cache.UNUSED_S - 60
    for place in (old, file):
        os.utime(place, (past, past))
    os.utime(used, (past + 120, past + 120))
    cache.remove_unused(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["used"]


FULL = [
    OSError(errno.ENOSPC, "No space left on device"),
    OSError(errno.EDQUOT, "Disk quota exceeded"),
    CompilerUnusable("g++ does not build it", "/usr/bin/ld: final link failed: No space left on device\n"),
]


@pytest.mark.parametrize("error", FULL)
def test_a_full_disk_is_the_machines_fault(error: Exception, tmp_path: Path) -> None:
    with (
        pytest.raises(InfraError, match=r"cannot hold .* folder in KENGINE_CACHE") as caught,
        cache.telling_full(tmp_path / "simt"),
    ):
        raise error
    assert str(tmp_path / "simt") in str(caught.value)
    assert re.match("No space left on device: |Disk quota exceeded: ", str(caught.value))


@pytest.mark.parametrize("error", [OSError(errno.EACCES, "no"), CompilerUnusable("g++ is broken", "error: unknown")])
def test_any_other_error_stays_what_it_is(error: Exception, tmp_path: Path) -> None:
    with pytest.raises(type(error)) as caught, cache.telling_full(tmp_path):
        raise error
    assert caught.value is error


@NEEDS_COMPILER
@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system, which takes root")
def test_parts_that_do_not_fit_the_disk_are_not_taken_for_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=20m", "tmpfs", str(small)], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        monkeypatch.setenv(cache.VARIABLE, str(small))
        with pytest.raises(InfraError, match=r"No space left on device: .*small/simt"):
            cache.prepare(32, "cuda")
        left = [p for p in small.rglob("*") if p.is_file() and p.suffix not in (".lock", ".h", ".used", ".so")]
        assert left == []
    finally:
        subprocess.run(["umount", "-l", str(small)], check=True)


def test_without_a_compiler_there_is_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from kengine.simt import CompilerMissing, toolchain

    monkeypatch.setattr(shutil, "which", lambda _: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    toolchain.find_compiler.cache_clear()
    toolchain.identity.cache_clear()
    try:
        with pytest.raises(CompilerMissing, match="no C\\+\\+ compiler found"):
            cache.parts_folder()
        assert not (tmp_path / "cache").exists()
    finally:
        toolchain.find_compiler.cache_clear()
        toolchain.identity.cache_clear()
