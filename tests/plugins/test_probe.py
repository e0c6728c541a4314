from __future__ import annotations

import os
import time

import pytest
from kengine.plugins import probe as module
from kengine.plugins.probe import Answer, probe


@pytest.fixture(autouse=True)
def _fresh():
    module.forget()
    yield
    module.forget()


def test_the_last_line_is_the_answer():
    code = "print('a driver banner')\nimport json; print(json.dumps({'devices': [90, 100]}))"
    assert probe(code) == Answer({"devices": [90, 100]})


def test_it_runs_in_another_process_and_once():
    first = probe("import os; print(os.getpid())").value
    assert first != os.getpid()
    assert probe("import os; print(os.getpid())").value == first
    module.forget()
    assert probe("import os; print(os.getpid())").value != first


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("import os; os.kill(os.getpid(), 11)", "the probe died of SIGSEGV"),
        ("raise OSError('libcuda.so.1: cannot open')", "OSError: libcuda.so.1: cannot open"),
        ("import sys; sys.exit(3)", "the probe ended with exit code 3"),
        ("pass", "the probe printed no JSON but 'nothing'"),
        ("print('hello')", "the probe printed no JSON but 'hello'"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", "the probe printed no JSON but '\ufffd\ufffd'"),
    ],
)
def test_a_failure_is_an_answer(code, problem):
    assert probe(code) == Answer(None, problem)


def test_a_hanging_probe_and_its_children_are_killed():
    mark = f"98765.{os.getpid()}"
    sleep = f"[sys.executable, '-c', 'import time; time.sleep({mark})']"
    begun = time.monotonic()
    assert probe(f"import subprocess, sys; subprocess.run({sleep})", timeout_s=1.5).problem == "no answer within 1.5 s"
    assert time.monotonic() - begun < 10
    for _ in range(50):
        if not _alive(mark):
            return
        time.sleep(0.1)
    raise AssertionError("the probe left a child behind")


def test_the_environment_cannot_add_modules(monkeypatch, tmp_path):
    (tmp_path / "evil.py").write_text("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert probe("import evil; print(1)").problem == "ModuleNotFoundError: No module named 'evil'"


def _alive(mark: str) -> bool:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if mark.encode() in file.read():
                    return True
        except OSError:
            continue
    return False
