"""Folders for temporary files: whose owner is gone goes with the next engine, and no other one."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from kengine import Engine
from kengine.engine import scratch
from kengine.engine.scratch import DAY_S, Scratch, sweep

CHILD = """
import sys, time
from kengine import Engine
engine = Engine(target="toy:cpu", workers=1)
engine.warm()
print(engine._crew._root, flush=True)
time.sleep(600)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for temporary files of this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def start():
    """Starts processes with an engine each; gives the process and its engine's folder."""
    started = []

    def begin():
        process = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, Path(process.stdout.readline().strip())

    yield begin
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def swept(place):
    thread = sweep(place)
    if thread is not None:
        thread.join(timeout=30)
        assert not thread.is_alive()
    return thread is not None


def test_the_folder_of_an_engine_that_was_killed_goes_with_the_next_engine(place, start):
    dead, left = start()
    alive, other = start()
    assert left.parent == other.parent == place and list(left.iterdir()), "its standbys work there"
    os.kill(dead.pid, signal.SIGKILL)
    dead.wait()
    assert left.exists(), "nobody was there to remove it"
    with Engine(target="toy:cpu", workers=1) as engine:
        end = time.monotonic() + 20
        while left.exists() and time.monotonic() < end:
            time.sleep(0.01)
        assert not left.exists() and other.exists() and list(other.iterdir())
        own = engine._crew._root
        assert own.exists() and not swept(place), "the engine's own lives"
    assert alive.poll() is None and sorted(place.iterdir()) == [other]


def test_a_folder_lives_as_long_as_its_owner_and_not_a_moment_longer(place):
    made = Scratch(mode=0o711)
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o1711 and not swept(place)
    (made.path / "r1" / "deep").mkdir(parents=True)
    (made.path / "r1" / "deep" / "file").write_text("x")
    os.close(made._fd)  # as the end of its process does
    made._fd = -1
    assert swept(place) and list(place.iterdir()) == []
    with Scratch("curate") as path:
        assert path.name.startswith("kengine-curate-") and stat.S_IMODE(path.stat().st_mode) == 0o1700
        assert not swept(place)
    made.close()
    assert list(place.iterdir()) == []


def test_a_lock_that_a_fork_has_inherited_holds(place):
    made = Scratch()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.read(read, 1)
        os._exit(0)
    os.close(made._fd)
    made._fd = -1
    try:
        assert not swept(place), "whoever has been forked may still work there"
    finally:
        os.write(write, b"x")
        os.waitpid(pid, 0)
        os.close(read)
        os.close(write)
    assert swept(place) and list(place.iterdir()) == []


def make(place, name, mode, age_s=0.0, inside=()):
    folder = place / name
    folder.mkdir()
    for each in inside:
        (folder / each).mkdir()
    folder.chmod(mode)
    os.utime(folder, (time.time() - age_s,) * 2)
    return folder


@pytest.mark.parametrize(("name", "mode", "age_s", "inside", "goes"), [
    ("kengine-abcd_123", 0o711, DAY_S + 60, ("r1", "j22"), True),
    ("kengine-abcd_123", 0o711, DAY_S - 60, ("r1",), False),
    ("kengine-abcd_123", 0o711, 2 * DAY_S, ("r1", "results"), False),
    ("kengine-abcd_123", 0o755, 2 * DAY_S, ("r1",), False),
    ("kengine-abcd_123", 0o1777, 2 * DAY_S, (), False),
    ("kengine-my-results", 0o1711, 2 * DAY_S, (), False),
    ("other-abcd_123", 0o1711, 2 * DAY_S, (), False),
    ("kengine-abcd_123", 0o1711, 0.0, ("anything",), True),
    ("kengine-dedup-abcd_123", 0o1700, 0.0, ("anything",), True),
])  # fmt: skip
def test_which_folders_are_an_engines(place, name, mode, age_s, inside, goes):
    folder = make(place, name, mode, age_s, inside)
    assert swept(place) == goes and folder.exists() != goes


def test_what_is_another_users_or_leads_elsewhere_stays(place, monkeypatch):
    real = make(place, "elsewhere", 0o1711)
    link = place / "kengine-abcd_123"
    link.symlink_to(real)
    theirs = make(place, "kengine-their_s1", 0o1711)
    plain = place / "kengine-plain_f1"
    plain.write_text("x")
    monkeypatch.setattr(scratch.os, "geteuid", lambda: os.getuid() + 1)
    assert not swept(place) and theirs.exists()
    monkeypatch.undo()
    assert swept(place)
    assert link.is_symlink() and real.exists() and plain.exists() and not theirs.exists()


def test_a_folder_that_cannot_be_locked_is_neither_marked_nor_removed(place, monkeypatch):
    def refuse(fd, how):
        raise OSError(95, "not supported")

    left = make(place, "kengine-abcd_123", 0o1711)
    monkeypatch.setattr(scratch.fcntl, "flock", refuse)
    made = Scratch()
    assert stat.S_IMODE(made.path.stat().st_mode) == 0o700 and not swept(place) and left.exists()
    made.close()
    assert not made.path.exists()


def test_a_place_that_cannot_be_read_is_left(tmp_path, monkeypatch):
    assert sweep(tmp_path / "nowhere") is None

    def refuse(self):
        raise RuntimeError("can't start new thread")

    left = make(tmp_path, "kengine-abcd_123", 0o1711)
    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(scratch.threading.Thread, "start", refuse)
    assert sweep(tmp_path) is None and left.exists() and len(os.listdir("/proc/self/fd")) == before


def test_folders_of_others_are_passed_over_by_their_names(place, monkeypatch):
    for number in range(20):
        make(place, f"other-{number}", 0o700)
    monkeypatch.setattr(scratch, "_open", lambda path: pytest.fail(f"opened {path}"))
    assert sweep(place) is None and len(list(place.iterdir())) == 20
