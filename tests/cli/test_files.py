import os
from pathlib import Path

import pytest
from kengine.cli.files import check_file, expand
from kengine.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.py", "a.py", "k.cu", "notes.txt", "_private.py", ".hidden.py"):
        (tmp_path / name).write_text("x")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "c.py").write_text("x")
    return tmp_path


def test_a_folder_gives_its_own_sources_in_order(folder: Path) -> None:
    assert [p.name for p in expand([str(folder)], None)] == ["a.py", "b.py", "k.cu"]


def test_the_task_is_no_candidate(folder: Path) -> None:
    assert [p.name for p in expand([str(folder)], folder / "deeper" / ".." / "a.py")] == ["b.py", "k.cu"]
    with pytest.raises(UsageError, match="only the task itself"):
        expand([str(folder / "a.py")], folder / "a.py")


def test_a_quoted_pattern_is_expanded(folder: Path) -> None:
    assert [p.name for p in expand([f"{folder}/**/*.py"], None)] == ["_private.py", "a.py", "b.py", "c.py"]
    with pytest.raises(UsageError, match="the pattern matches no file"):
        expand([f"{folder}/*.hip"], None)


def test_each_file_comes_once_in_the_order_given(folder: Path) -> None:
    assert [p.name for p in expand([str(folder / "b.py"), str(folder)], None)] == ["b.py", "a.py", "k.cu"]


def test_a_file_named_itself_may_be_called_anything(folder: Path) -> None:
    assert expand([str(folder / "notes.txt")], None) == [folder / "notes.txt"]


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    odd = tmp_path / "k[1].py"
    odd.write_text("x")
    assert expand([str(odd)], None) == [odd]


def test_a_missing_file_says_what_is_near(folder: Path) -> None:
    (folder / "one_row.py").write_text("x")
    with pytest.raises(
        UsageError, match=r"one_rwo\.py: no such file, expected a candidate; did you mean .*one_row\.py\?"
    ):
        expand([str(folder / "one_rwo.py")], None)


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no candidate in this folder \(files ending in \.py, \.cu"):
        expand([str(tmp_path)], None)


def test_what_is_no_regular_file_is_refused_and_a_folder_leaves_it_out(folder: Path) -> None:
    os.mkfifo(folder / "fifo.py")
    (folder / "device.py").symlink_to("/dev/zero")
    for name, kind in (("fifo.py", "a FIFO"), ("device.py", "a character device")):
        with pytest.raises(
            UsageError, match=rf"{name}: is {kind}, expected a candidate; write what it holds to a file"
        ):
            expand([str(folder / name)], None)
        with pytest.raises(UsageError, match=rf"{name}: is {kind}, expected a task"):
            check_file(folder / name, "a task")
        check_file(folder / name, "a file of verdicts", stream=True)
    assert [p.name for p in expand([str(folder)], None)] == ["a.py", "b.py", "k.cu"]


def test_a_name_that_is_not_utf_8_is_found_and_told_with_escapes(folder: Path) -> None:
    odd = folder / os.fsdecode(b"kernel_\xff.py")
    odd.write_text("x")
    assert odd in expand([str(folder)], None)
    with pytest.raises(
        UsageError, match=r"kernel_\\xfe\.py: no such file, expected a candidate; did you mean .*kernel_\\xff\.py\?"
    ):
        expand([str(folder / os.fsdecode(b"kernel_\xfe.py"))], None)
