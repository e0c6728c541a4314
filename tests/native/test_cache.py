"""Parts that are built once for a machine: one folder for each combination, links in each runner's own."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from kengine.native import cache

NEEDS_COMPILER = pytest.mark.skipif(
    not any(map(shutil.which, ("g++", "clang++", "c++"))), reason="needs a C++ compiler on this machine"
)


@pytest.fixture(autouse=True)
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(cache, "_prepared", [])


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
def test_combinations_that_nobody_uses_are_removed(tmp_path: Path) -> None:
    folder = cache.parts_folder()
    old, used, file = folder.parent / "old", folder.parent / "used", folder.parent / "libold.so"
    for place in (old, used):
        place.mkdir()
        (place / "part").write_text("x")
    file.write_text("x")
    past = time.time() - cache.UNUSED_S - 60
    for place in (old, file, folder):
        os.utime(place, (past, past))
    os.utime(used, (past + 120, past + 120))
    assert cache.parts_folder() == folder
    assert sorted(p.name for p in folder.parent.iterdir()) == sorted([folder.name, "used"])


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
