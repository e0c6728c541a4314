"""Whatever the code of a task raises is the task's fault, wherever it is called."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from kengine.errors import TaskError
from kengine.judge.module import TaskModule

TASK = """
import signal, sys
import numpy as np
class Mute(Exception):
    def __str__(self):
        raise SystemExit(3)
class Leave(BaseException):
    pass
{top}
def reference(x):
    {body}
    return x + 1
def make_inputs(seed, device):
    return (np.random.default_rng(seed).standard_normal(64).astype(np.float32),)
"""
ENDS = {
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "raise SystemExit": "SystemExit",
    "sys.exit(0)": "SystemExit: 0",
    "raise GeneratorExit": "GeneratorExit",
    "raise Leave('now')": "Leave: now",
    "raise Mute": r"Mute: \(its text cannot be had: SystemExit\)",
    "signal.raise_signal(signal.SIGINT)": "KeyboardInterrupt",
}


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT raises, also where whoever started the tests has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("end", ENDS)
def test_what_would_end_a_process_is_an_error_of_the_task(end, make_task) -> None:
    with pytest.raises(TaskError, match=rf"its source cannot be executed: {ENDS[end]}"):
        TaskModule(make_task(TASK.format(top=end, body="")))


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("end", ENDS)
def test_the_judge_answers_and_goes_on(end, bench, make_task) -> None:
    answer = bench.open(make_task(TASK.format(top="", body=end)))
    assert (answer["ok"], answer["error"]) == (False, "task"), answer
    assert "the reference raised" in answer["message"]
    assert bench.open(make_task(TASK.format(top="", body="pass")))["ok"]


def test_a_reference_that_leaves_only_where_its_errors_are_not_told(bench, make_task) -> None:
    # The run in float64 is one that may fail; leaving it is no way to fail.
    body = "if x.dtype == np.float64: raise KeyboardInterrupt"
    answer = bench.open(make_task(TASK.format(top="", body=body)))
    assert (answer["ok"], answer["error"]) == (False, "task"), answer
    assert "KeyboardInterrupt" in answer["message"]
