"""Files whose names are not UTF-8: every one of a folder is judged, and what is written about it is valid text."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from toy_items import GOOD, TASK


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "task").mkdir()
    (tmp_path / "task" / os.fsdecode(b"t\xff.py")).write_text(TASK)
    (tmp_path / "nu").mkdir()
    for name, text in (
        (b"a.py", GOOD),
        (b"b\xff.py", GOOD),
        (b"c\xff.py", GOOD),
        (b"y\xff.py", "x\0"),
        (b"z.py", GOOD),
    ):
        (tmp_path / "nu" / os.fsdecode(name)).write_text(text)
    return tmp_path


def run(folder, *arguments):
    task = os.fsdecode(b"task/t\xff.py")
    command = [sys.executable, "-m", "kengine", *arguments, "--target", "toy:cpu", "--task", task, "nu"]
    return subprocess.run(command, cwd=folder, capture_output=True, timeout=300)


def test_verify_loses_none(folder) -> None:
    ran = run(folder, "verify", "--json", "--cases", "2", "--html", "page.html", "--run", "kept")
    told = [json.loads(line) for line in ran.stdout.decode().splitlines()]
    verdicts = [t for t in told if t["schema"] == "kengine.verdict/1"]
    files = ["nu/a.py", r"nu/b\xff.py", r"nu/c\xff.py", "nu/z.py"]
    assert [(v["candidate"]["files"][0]["path"], v["status"]) for v in verdicts] == [(f, "passed") for f in files]
    assert {v["task"]["path"] for v in verdicts} == {r"task/t\xff.py"}
    (error,) = [t for t in told if t["schema"] == "kengine.error/1"]
    assert error["candidate"] == r"nu/y\xff.py"
    assert error["message"] == r"nu/y\xff.py: holds NUL bytes at byte 1: a binary file, not source text"
    assert rb"nu/y\xff.py: holds NUL bytes" in ran.stderr
    assert ran.returncode == 2
    assert r"y\xff.py" in (folder / "page.html").read_text(encoding="utf-8")


def test_lint_tells_the_same_names(folder) -> None:
    ran = run(folder, "lint", "--json")
    told = [json.loads(line)["candidate"] for line in ran.stdout.decode().splitlines()]
    assert told == ["nu/a.py", r"nu/b\xff.py", r"nu/c\xff.py", "nu/z.py"]
    assert rb"nu/y\xff.py: holds NUL bytes" in ran.stderr
