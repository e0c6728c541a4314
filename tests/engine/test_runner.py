"""How a runner's death and a runner's words are read."""

from __future__ import annotations

import pytest
from kengine.engine.runner import describe_death, read_fault


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (11, "", ("crashed", "the process was killed by SIGSEGV during 'launch'")),
        (9, "", ("crashed", "the process was killed by SIGKILL during 'launch'")),
        (24, "a limit", ("timed_out", "it used up its processor time during 'launch' (a limit)")),
        (0, "", ("crashed", "the process ended by itself with exit code 0 during 'launch'")),
        (3 << 8, "", ("crashed", "the process ended by itself with exit code 3 during 'launch'")),
    ],
)
def test_death(status, reason, expected):
    assert describe_death(status, "launch", reason) == expected


def test_a_fault_is_read():
    fault = read_fault({"status": "launch_failed", "message": "boom", "log": "trace", "line": 7})
    assert (fault.status, fault.message, fault.log, fault.line) == ("launch_failed", "boom", "trace", 7)


@pytest.mark.parametrize(
    "lie",
    [
        None,
        [],
        {"message": 3},
        {"status": "passed", "message": "all fine"},
        {"status": "too_slow", "message": "m"},
        {"status": "infra", "message": "not my fault"},
        {"status": "nonsense", "message": "m"},
        {"status": ["crashed"], "message": "m"},
        {"status": "crashed", "message": "m", "line": True},
        {"status": "crashed", "message": "m", "log": 5},
    ],
)
def test_a_fault_that_no_runner_may_report_is_tampering(lie):
    assert read_fault(lie).status == "tampered"


def test_long_words_are_cut():
    fault = read_fault({"status": "crashed", "message": "m" * 10_000, "log": "l" * 100_000, "line": -4})
    assert (len(fault.message), len(fault.log), fault.line) == (4000, 60_000, 0)
