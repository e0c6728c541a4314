"""Torch's own headers precompiled: wished for where they are missing, built once, and taken by whoever comes later.

A small header stands in for torch's, which takes half a minute of a processor.
"""

from __future__ import annotations

import mmap
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from kengine.errors import CandidateFault, InfraError  # noqa: E402
from kengine.extension import Settings, load_inline, precompiled, toolkit  # noqa: E402
from kengine.runner import wishes  # noqa: E402
from kengine.simt import CompilerUnusable  # noqa: E402
from kengine.simt.toolchain import find_compiler  # noqa: E402

NAMES = ("full-cuda-32-host", "full-cuda-32-device", "full-cuda-32-device-volatile")
CHECKED = ("full-cuda-32-host", "full-cuda-32-device-check", "full-cuda-32-device-volatile-check")
SMALL = '#include <vector>\n#include "@SIMT@/simt.h"\n#include "kengine_full.h"\n'


@pytest.fixture
def small(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings of a folder of its own, where torch's headers are small."""
    monkeypatch.setattr(precompiled, "_EMULATED", SMALL)
    monkeypatch.setattr(precompiled, "_BRIDGE", "#pragma once\ninline int bridge() { return 7; }\n")
    monkeypatch.delenv("KENGINE_EXTENSION_HEADERS", raising=False)
    try:
        toolkit.torch_include()
    except CandidateFault as fault:
        pytest.skip(fault.message)
    return Settings(cache=tmp_path / "own", tools=tmp_path / "shared")


@pytest.fixture(autouse=True)
def roomy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompiled, "NEEDED_BYTES", 1 << 20)


@pytest.fixture(autouse=True)
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[mmap.mmap]:
    """What a zygote shares with one runner."""
    monkeypatch.setattr(wishes, "_offers", {})
    monkeypatch.setattr(wishes, "_orders", [])
    with mmap.mmap(-1, mmap.PAGESIZE) as made:
        monkeypatch.setattr(wishes, "_page", made)
        yield made


def wished(page: mmap.mmap) -> list[str]:
    return [name for name, said in zip(wishes.offered(), page[:]) if said]


def test_a_build_without_one_makes_do_and_wishes_and_the_next_takes_it(
    small: Settings, page: mmap.mmap, tmp_path: Path
) -> None:
    small.shared.mkdir()
    precompiled.offer(small)
    assert wishes.offered() == NAMES and wished(page) == []
    place = tmp_path / "unit0"
    place.mkdir()
    assert precompiled.header(small, True, False, place) == place / "full.h"
    assert "simt.h" in (place / "full.h").read_text() and wished(page) == [NAMES[1]]

    wishes._offers[NAMES[1]]()
    (folder,) = (p for p in small.shared.iterdir() if p.is_dir())
    own = tmp_path / "links"
    own.mkdir()
    (own / folder.name).symlink_to(folder)
    later = replace(small, tools=own)  # a runner that starts later has links
    page[:] = bytes(len(page))
    header = precompiled.header(later, True, False, place)
    assert header == own / folder.name / "full.h" and wished(page) == []

    (tmp_path / "unit.cpp").write_text("int f() { return bridge() + int(std::vector<int>(3).size()); }\n")
    compiler = find_compiler()
    command = [*compiler.command, *precompiled.full_flags(later, True, False), "-include", str(header), "-H"]
    command += ["-Winvalid-pch", "-c", "unit.cpp", "-o", "unit.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    if not compiler.is_clang:
        assert f"! {header}.gch" in done.stderr


def test_it_is_built_once_by_one_and_readable_by_all(small: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[list[str]] = []
    real = precompiled.run

    def run(command: list[str], folder: Path, seconds: float) -> str:
        runs.append(command)
        return real(command, folder, seconds)

    monkeypatch.setattr(precompiled, "run", run)
    small.shared.mkdir()
    precompiled.offer(small)
    before = os.umask(0o077)
    try:
        threads = [threading.Thread(target=wishes._offers[NAMES[0]]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        os.umask(before)
    assert len(runs) == 1 and "-O1" in runs[0]
    (folder,) = (p for p in small.shared.iterdir() if p.is_dir())
    assert all(stat.S_IMODE(p.stat().st_mode) == 0o644 for p in folder.iterdir())
    compiled = "full.h.pch" if find_compiler().is_clang else "full.h.gch"
    assert sorted(p.name for p in folder.iterdir()) == sorted(["full.h", "kengine_full.h", compiled])


def test_no_two_kinds_share_a_name_or_a_header(small: Settings) -> None:
    found = {}
    for dialect in ("cuda", "hip"):
        for lanes in (32, 64):
            for check in (True, False):
                how = replace(small, dialect=dialect, lanes=lanes, check=check)
                for is_device, volatile in ((False, False), (True, False), (True, True)):
                    folder = precompiled._folder(how, precompiled.full_flags(how, is_device, volatile))
                    found.setdefault(precompiled._name(how, is_device, volatile), set()).add(folder)
    assert len(found) == 20  # host units have no checks
    assert all(len(folders) == 1 for folders in found.values())
    assert len(set.union(*found.values())) == 20


@pytest.mark.parametrize("short", ["disk", "memory"])
def test_a_machine_without_room_for_others_gets_none(
    short: str, small: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.shared.mkdir()
    precompiled.offer(small)
    usage = shutil.disk_usage(small.shared)
    free = {"disk": 1 << 40, "memory": 1 << 40, short: precompiled.NEEDED_BYTES - 1}
    monkeypatch.setattr(precompiled.shutil, "disk_usage", lambda _: usage._replace(free=free["disk"]))
    assert precompiled._free_memory() > 1 << 20
    monkeypatch.setattr(precompiled, "_free_memory", lambda: free["memory"])
    wishes._offers[NAMES[0]]()
    assert list(small.shared.iterdir()) == []


def test_they_are_built_while_warming_up_where_they_are_the_only_ones(
    small: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", "full")
    precompiled.offer(replace(small, check=True))
    assert wishes.offered() == CHECKED and wishes._orders == []
    compiled = "full.h.pch" if find_compiler().is_clang else "full.h.gch"
    assert len(list(small.shared.glob(f"full-*/{compiled}"))) == 2


def test_what_is_not_done_in_time_while_warming_up_is_built_later(
    small: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", "full")
    monkeypatch.setattr(precompiled, "WARM_SECONDS", 0.0)
    precompiled.offer(small)
    assert wishes._orders == list(NAMES[:2])
    assert list(small.shared.glob("full-*/*.part")) == list(small.shared.glob("full-*/*.gch")) == []


@pytest.mark.parametrize("word", ["auto", "light", "heavy"])
def test_they_are_not_built_unasked(word: str, small: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KENGINE_EXTENSION_HEADERS", word)
    precompiled.offer(small)
    assert wishes.offered() == NAMES and wishes._orders == [] and not small.shared.exists()


def test_a_header_that_does_not_compile_is_the_compilers_fault_and_leaves_nothing(
    small: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precompiled, "_EMULATED", "#include <no_such_header.h>\n")
    with pytest.raises(CompilerUnusable, match=r"no_such_header\.h"):
        precompiled.precompile(small)
    assert list(small.shared.glob("full-*/*.[gp]*h")) == []


def test_a_compiler_that_is_too_slow_is_the_machines_fault(small: Settings) -> None:
    with pytest.raises(InfraError, match=r"not precompiled|not finished"):
        precompiled.precompile(small, 0.0)


VOLATILE = """
#include <torch/extension.h>
__global__ void k(float* x) { volatile float* v = x; v[0] = v[0] + 1.f; }
torch::Tensor f(torch::Tensor x) { k<<<1, 1>>>(x.data_ptr<float>()); return x; }
"""


@pytest.mark.slow
def test_the_light_header_for_volatile_accesses_is_wished_for_and_taken(
    settings: Settings, page: mmap.mmap, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    for part in settings.shared.iterdir():
        if not part.name.startswith(("tmp", "extension-")) and part.suffix != ".lock":
            (shared / part.name).symlink_to(part)
    for check in (False, True):
        toolkit.offer(replace(settings, tools=shared, check=check))
    names = ("light-cuda-32-device-volatile", "light-cuda-32-device-volatile-check")
    assert wishes.offered() == names
    wishes._offers[names[0]]()
    for check, missing in ((False, []), (True, [names[1]])):
        page[:] = bytes(len(page))
        how = replace(settings, cache=tmp_path / f"own-{check}", tools=shared, check=check)
        made = load_inline("lockstep", "torch::Tensor f(torch::Tensor x);", VOLATILE, functions=["f"], settings=how)
        assert made.path == "light" and made.f(torch.ones(2)).tolist() == [2.0, 1.0]
        assert wished(page) == missing


LOGS = [
    "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n",
    "{standard input}: Fatal error: can't write 18 bytes to section .data of unit.o: 'No space left on device'\n",
    "cc1plus: fatal error: error writing to unit.s: No space left on device\ncompilation terminated.\n",
    "ld: cannot open output file a.so: Disk quota exceeded\n",
]


@pytest.mark.parametrize("log", LOGS)
def test_a_disk_that_is_full_is_never_a_compile_that_failed(
    log: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kengine.extension import light
    from kengine.simt.fault import CompileError

    def refuse(*_: object) -> str:
        raise CompileError("compilation failed", None, log)

    monkeypatch.setattr(light, "run", refuse)
    how = replace(settings, cache=tmp_path, tools=settings.shared)
    with pytest.raises(
        CandidateFault, match=r"(No space left on device|Disk quota exceeded): the compiler could"
    ) as caught:
        load_inline("full_disk", "int f() { return 1; }", "__global__ void k() {}", functions=["f"], settings=how)
    assert caught.value.status == "unsupported" and str(tmp_path) in caught.value.message


@pytest.mark.parametrize(
    "statement", ["#error No space left on device", 'static_assert(false, "x: No space left on device");']
)
def test_a_source_that_speaks_of_a_full_disk_is_one_that_failed(
    statement: str, settings: Settings, tmp_path: Path
) -> None:
    how = replace(settings, cache=tmp_path, tools=settings.shared)
    source = f"{statement}\nint f() {{ return 1; }}"
    with pytest.raises(CandidateFault, match="No space left on device") as caught:
        load_inline("speaks", source, "__global__ void k() {}", functions=["f"], settings=how)
    assert (caught.value.status, caught.value.line) == ("compile_failed", 1)
