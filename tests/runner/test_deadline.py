"""How long the engine will wait, as a runner is told, and what it tells of itself just before that."""

from __future__ import annotations

import faulthandler
import os
import signal
import subprocess
import sys
import time

import pytest
from kengine.engine.stack import Stack
from kengine.runner import deadline


@pytest.fixture(autouse=True)
def forgotten():
    yield
    deadline.begin(None)
    deadline.end()
    if deadline._stack >= 0:
        os.close(deadline._stack)
        deadline._stack = -1
    for number in (signal.SIGALRM, signal.SIGXCPU):
        faulthandler.unregister(number)


def test_nobody_said() -> None:
    for nothing in (None, 0, -1.0, "5", []):
        deadline.begin(nothing)
        assert deadline.remaining() is None


def test_the_time_runs_down_to_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(deadline.time, "monotonic", lambda: clock[0])
    deadline.begin(5)
    assert deadline.remaining() == 5.0
    clock[0] += 3.5
    assert deadline.remaining() == 1.5
    clock[0] += 10
    assert deadline.remaining() == 0.0


@pytest.fixture
def stack():
    made = Stack()
    yield made
    made.close()


def wait(until: float) -> int:
    """Be somewhere until then; gives the line where that is."""
    while time.monotonic() < until:
        pass
    return wait.__code__.co_firstlineno + 2


def test_the_innermost_line_of_the_main_file_is_told(stack: Stack) -> None:
    deadline.keep_stack(stack.fd, wait.__code__.co_filename)
    assert stack.line() == 0
    deadline.begin(0.2)
    began = time.monotonic()
    line = wait(began + 0.1)
    assert stack.line() == 0, "it is not told before three quarters of a short time are over"
    wait(began + 0.19)
    assert stack.line() in (line, line + 1)


def test_what_is_answered_in_time_tells_nothing(stack: Stack) -> None:
    deadline.keep_stack(stack.fd, wait.__code__.co_filename)
    deadline.begin(0.1)
    deadline.end()
    wait(time.monotonic() + 0.12)
    assert stack.line() == 0 and signal.getitimer(signal.ITIMER_REAL)[0] == 0.0
    deadline.begin(100.0)
    assert 99.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100.0 - deadline.MARGIN_S


def test_a_request_forgets_what_the_one_before_has_told(stack: Stack) -> None:
    deadline.keep_stack(stack.fd, wait.__code__.co_filename)
    deadline.begin(0.04)
    wait(time.monotonic() + 0.05)
    assert stack.line()
    deadline.begin(5.0)
    assert stack.line() == 0


def test_the_alarm_is_set_anew_after_somebody_has_used_it(stack: Stack) -> None:
    deadline.keep_stack(stack.fd, wait.__code__.co_filename)
    deadline.begin(5.0)
    signal.signal(signal.SIGALRM, signal.signal(signal.SIGALRM, signal.SIG_IGN))
    deadline.begin(0.04)
    wait(time.monotonic() + 0.05)
    assert stack.line()


def test_without_a_stack_there_is_no_alarm() -> None:
    deadline.keep_stack(-1, "")
    deadline.begin(0.04)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0.0


def test_the_limit_of_processor_time_ends_it_as_before(stack: Stack) -> None:
    code = f"""
import resource
from kengine.runner import deadline
deadline.keep_stack({stack.fd}, "<string>")
resource.setrlimit(resource.RLIMIT_CPU, (1, 2))
while True:
    pass
"""
    done = subprocess.run([sys.executable, "-c", code], pass_fds=(stack.fd,), timeout=60, check=False)
    assert done.returncode == -signal.SIGXCPU and stack.line() in (6, 7)
