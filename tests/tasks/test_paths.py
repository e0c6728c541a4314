"""Paths as text that a record can hold, and what is no regular file."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from kengine import codec, tasks
from kengine.errors import TaskError, UsageError
from kengine.model import Candidate
from kengine.tasks.paths import find_kind, show_path
from toy_items import GOOD, TASK


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a.py", "a.py"),
        ("grün/核.py", "grün/核.py"),
        (os.fsdecode(b"b\xff.py"), r"b\xff.py"),
        (os.fsdecode("ü".encode("latin-1") + "ü".encode()), r"\xfcü"),
        ("\ud800.py", r"\ud800.py"),
        (Path(os.fsdecode(b"\x80/k.cu")), r"\x80/k.cu"),
    ],
)
def test_every_path_is_shown_as_text_that_can_be_encoded(path, shown) -> None:
    assert show_path(path) == shown
    assert show_path(path).encode().decode() == shown


def test_files_whose_names_are_not_utf_8_are_read_and_their_records_can_be_written(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    main, task = Path(os.fsdecode(b"b\xff.py")), Path(os.fsdecode(b"t\xe9.py"))
    main.write_text(GOOD)
    task.write_text(TASK)
    item = tasks.load(main, task)
    assert (item.key, item.candidate.main.path, item.task.path, item.task.name) == (
        r"b\xff.py", r"b\xff.py", r"t\xe9.py", r"t\xe9",
    )  # fmt: skip
    assert codec.loads(codec.dumps(item.candidate).encode(), Candidate) == item.candidate
    assert len(item.candidate.digest) == len(item.task.digest) == 64
    both = Path(os.fsdecode(b"both\xff.py"))
    both.write_text(TASK + GOOD)
    assert tasks.load(both).task.path == r"both\xff.py"
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    monkeypatch.chdir(outside)
    assert tasks.load(tmp_path / main, tmp_path / task).candidate.main.path == r"b\xff.py"


def test_names_of_texts_too() -> None:
    name = os.fsdecode(b"b\xff.cu")
    task = tasks.parse_task(TASK, os.fsdecode(b"t\xff.py"))
    assert task.path == r"t\xff.py"
    item = tasks.pair("__global__ void candidate() {}", task, name)
    assert (item.candidate.main.path, item.candidate.language, item.key) == (r"b\xff.cu", "cuda", r"b\xff.cu")
    with pytest.raises(UsageError) as caught:
        tasks.load(Path(os.fsdecode(b"gone\xff.py")))
    assert str(caught.value) == r"gone\xff.py: no such file"


def test_what_is_no_regular_file_is_refused_before_it_is_opened(tmp_path) -> None:
    fifo, link, good = tmp_path / "fifo.py", tmp_path / "link.py", tmp_path / "good.py"
    os.mkfifo(fifo)
    link.symlink_to(fifo)
    good.write_text(GOOD)
    zero = tmp_path / "zero.py"
    zero.symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert find_kind(tmp_path / "s") == "a socket"
    assert (find_kind(fifo), find_kind(link), find_kind(zero), find_kind(tmp_path), find_kind(good)) == (
        "a FIFO", "a FIFO", "a character device", "a folder", "",
    )  # fmt: skip
    for path, kind in ((fifo, "a FIFO"), (link, "a FIFO"), (zero, "a character device")):
        with pytest.raises(UsageError, match=rf"{path.name}: is {kind}, expected a source file; write what it holds"):
            tasks.load(path)
        with pytest.raises(TaskError, match=rf"the task cannot be read: .*{path.name}: is {kind}"):
            tasks.load(good, path)
    with pytest.raises(UsageError, match=r"is a folder, expected a source file$"):
        tasks.load(tmp_path)
