"""What the zygote believes of a family: the keeper's report, else the outermost process's own end."""

from __future__ import annotations

import os
import signal

import pytest
from kengine.runner import family as module
from kengine.runner.family import Family


@pytest.fixture
def pipe():
    read, write = os.pipe()
    os.set_blocking(read, False)
    yield read, write
    for fd in (read, write):
        try:
            os.close(fd)
        except OSError:
            pass


def test_reports_come_in_parts_and_the_status_of_the_innermost_process_counts(pipe):
    read, write = pipe
    family = Family(1, read)
    os.write(write, b"reason limit of memory\nerr")
    family.read()
    assert (family.reason, family.error, family.status) == ("limit of memory", "", None)
    os.write(write, b"or one\\ntwo\nstatus 139\n")
    family.read()
    assert (family.error, family.status, family.gone) == ("one\ntwo", 139, False)
    family.reaped(0)
    assert family.gone and family.status == 139


def test_a_keeper_that_died_without_a_report_speaks_by_its_death(pipe):
    read, write = pipe
    family = Family(1, read)
    family.reaped(signal.SIGKILL)
    assert family.gone and family.status == signal.SIGKILL and family.pipe == -1
    with pytest.raises(OSError):
        os.fstat(read)  # closed, although somebody still holds the other end
    os.fstat(write)


def test_a_last_report_is_read_when_the_end_is_noticed(pipe):
    read, write = pipe
    family = Family(1, read)
    os.write(write, b"status 11\n")
    os.close(write)
    family.reaped(70 << 8)
    assert family.status == 11 and family.pipe == -1


@pytest.mark.parametrize(
    ("whole", "hard", "number"),
    [
        (True, False, signal.SIGKILL),
        (True, True, signal.SIGKILL),
        (False, False, signal.SIGTERM),
        (False, True, signal.SIGKILL),
    ],
)
def test_how_a_family_is_killed(monkeypatch, whole, hard, number):
    sent = []
    monkeypatch.setattr(module.os, "kill", lambda *call: sent.append(call))
    family = Family(2**22 + 1, whole=whole)
    family.kill(hard)
    assert sent == [(2**22 + 1, number)] and family.killed
    family.gone = True  # its number may be that of another process by now
    family.kill(hard)
    assert len(sent) == 1


def test_a_runner_has_none_of_the_zygotes_signal_handling(runners):
    reply = runners().run(
        "import signal\n"
        "def candidate(x):\n"
        "    ours = [signal.getsignal(n) for n in (signal.SIGCHLD, signal.SIGTERM)]\n"
        "    plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "    return [signal.set_wakeup_fd(-1), plain, ours == [signal.SIG_DFL] * 2]\n"
    )
    assert reply["ok"], reply
    assert [item["v"] for item in reply["outputs"][0]["items"]] == [-1, True, True]
