"""Which folders of parts stay on a machine: those that a living process has asked for, the last few, none too old."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kengine.errors import UsageError
from kengine.native import retention

HOLD = """
import sys
from pathlib import Path
from kengine.native import retention
print(retention.hold(Path(sys.argv[1])), flush=True)
input()
"""
OWN = "f" * 16


@pytest.fixture(autouse=True)
def apart(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    held: dict[Path, int] = {}
    monkeypatch.setattr(retention, "_held", held)
    monkeypatch.delenv(retention.VARIABLE, raising=False)
    yield
    for fd in held.values():
        os.close(fd)


def make(parent: Path, *ages_h: float) -> list[Path]:
    """Folders of other combinations, last used so many hours ago, with the files of their locks."""
    made = []
    for number, age in enumerate(ages_h):
        folder = parent / f"{number:016x}"
        (folder / "header-1").mkdir(parents=True)
        (folder / "header-1" / "simt.h.gch").write_text("x")
        mark = parent / f"{folder.name}.used"
        mark.touch()
        then = time.time() - age * 3600
        for place in (mark, folder):
            os.utime(place, (then, then))
        made.append(folder)
    return made


def names(parent: Path) -> list[str]:
    return sorted(p.name for p in parent.iterdir())


def test_the_last_three_stay_and_what_is_a_month_old_goes(tmp_path: Path) -> None:
    folders = make(tmp_path, 5, 1, 24 * 31, 2, 3)
    (tmp_path / OWN).mkdir()
    assert retention.hold(tmp_path / OWN)
    retention.remove_others(tmp_path, tmp_path / OWN)
    left = [folders[1].name, folders[3].name, folders[4].name, OWN]
    assert names(tmp_path) == sorted(name for stay in left for name in (stay, f"{stay}.used"))


@pytest.mark.parametrize(("word", "stay"), [("0", 0), ("1", 1), (" 2 ", 2), ("", 3), ("9", 5)])
def test_the_variable_says_how_many_stay(word: str, stay: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = make(tmp_path, 1, 2, 3, 4, 5)
    monkeypatch.setenv(retention.VARIABLE, word)
    retention.remove_others(tmp_path, tmp_path / OWN)
    assert [f for f in folders if f.exists()] == folders[:stay]


@pytest.mark.parametrize("word", ["many", "-1", "1.5"])
def test_a_variable_that_is_no_number_is_refused(word: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = make(tmp_path, 24 * 31)
    monkeypatch.setenv(retention.VARIABLE, word)
    with pytest.raises(UsageError, match=f"KENGINE_CACHE_VERSIONS is '{word}'; expected a whole number"):
        retention.remove_others(tmp_path, tmp_path / OWN)
    assert folder.exists()


def test_what_a_living_process_has_asked_for_stays_however_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = make(tmp_path, 24 * 31)
    monkeypatch.setenv(retention.VARIABLE, "0")
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "True\n"
        then = time.time() - 24 * 3600 * 31
        for place in (folder, tmp_path / f"{folder.name}.used"):
            os.utime(place, (then, then))
        retention.remove_others(tmp_path, tmp_path / OWN)
        assert (folder / "header-1" / "simt.h.gch").read_text() == "x"
        process.send_signal(signal.SIGKILL)
        process.wait()
    retention.remove_others(tmp_path, tmp_path / OWN)
    assert names(tmp_path) == []


def test_a_fork_holds_it_when_its_parent_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = make(tmp_path, 1)
    monkeypatch.setenv(retention.VARIABLE, "0")
    script = HOLD.replace("input()", "import os, time\nif os.fork() == 0:\n    input()\n")
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", script, str(folder)], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "True\n"
        process.wait()
        retention.remove_others(tmp_path, tmp_path / OWN)
        assert folder.exists()
        process.stdin.close()
        process.stdout.read()  # until the fork has ended
    retention.remove_others(tmp_path, tmp_path / OWN)
    assert not folder.exists()


def test_a_fork_whose_descriptors_were_closed_takes_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder,) = make(tmp_path, 1)
    assert retention.hold(folder) and retention.hold(folder) and len(retention._held) == 1
    os.close(retention._held[folder])
    other = os.open(tmp_path, os.O_RDONLY)  # under the same number
    try:
        assert retention.hold(folder)
        monkeypatch.setenv(retention.VARIABLE, "0")
        retention.remove_others(tmp_path, tmp_path / OWN)
        assert folder.exists() and os.fstat(other)
    finally:
        os.close(other)


def test_whoever_comes_while_a_folder_is_removed_waits_and_has_a_lock_of_the_new_one(tmp_path: Path) -> None:
    (folder,) = make(tmp_path, 1)
    mark = tmp_path / f"{folder.name}.used"
    fd = os.open(mark, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        time.sleep(0.5)
        mark.unlink()
        os.close(fd)
        assert process.stdout.readline() == "True\n"
        second = os.open(mark, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(second)
        process.communicate("\n")


def test_what_is_no_folder_of_parts_goes_after_a_day_and_a_half_removed_one_at_once(tmp_path: Path) -> None:
    day = time.time() - retention.STRAY_S - 60
    for name in ("emulated-1", "header-1", "full-1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.gch").write_text("x")
    (tmp_path / "libkengine_simt_1.so").write_text("x")
    (tmp_path / ".removed-0-1").mkdir()
    (tmp_path / f"{'a' * 16}.used").touch()  # its folder is gone
    for name in ("emulated-1", "libkengine_simt_1.so"):
        os.utime(tmp_path / name, (day, day))
    retention.remove_others(tmp_path, tmp_path / OWN)
    assert names(tmp_path) == ["full-1", "header-1"]


def test_a_folder_of_a_version_that_knows_no_locks_counts_as_in_use_for_an_hour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(retention.VARIABLE, "0")
    young, old = make(tmp_path, 0.5, 2)
    for folder in (young, old):
        (tmp_path / f"{folder.name}.used").unlink()
    retention.remove_others(tmp_path, tmp_path / OWN)
    assert names(tmp_path) == [young.name]


def test_without_locks_nothing_is_marked_and_nothing_in_use_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, how: int) -> None:
        raise OSError(errno.ENOLCK, "no locks")

    (folder,) = make(tmp_path, 24 * 31)
    monkeypatch.setattr(fcntl, "flock", refuse)
    assert retention.hold(folder) is False
    retention.remove_others(tmp_path, tmp_path / OWN)
    assert folder.exists()


def test_what_killed_builds_have_left_goes_after_a_day(tmp_path: Path) -> None:
    day = time.time() - retention.STRAY_S - 60
    for name in ("tmpabc", "tmpnew", "header-1"):
        (tmp_path / name).mkdir()
    for name in ("tmpabc", "header-1"):
        os.utime(tmp_path / name, (day, day))
    retention.remove_unfinished(tmp_path)
    assert names(tmp_path) == ["header-1", "tmpnew"]
