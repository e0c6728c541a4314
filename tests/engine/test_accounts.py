"""The kernel's books on processes that come and go while they are read."""

from __future__ import annotations

import os

import pytest
from kengine.engine import accounts

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="needs /proc/PID/schedstat")


def test_a_thread_that_ends_meanwhile_is_left_out(monkeypatch):
    listed = accounts._listed
    monkeypatch.setattr(accounts, "_listed", lambda folder: [folder / "999999999", *listed(folder)])
    found = accounts.read_account(os.getpid())
    assert (os.getpid(), os.getpid()) in found and all(thread != 999999999 for _, thread in found)
    assert found[os.getpid(), os.getpid()].worked_ns > 0 and found[os.getpid(), os.getpid()].runnable


def test_a_process_that_is_gone_has_no_account():
    assert accounts.read_account(2**22 + 1) == {} and accounts.find_processes(2**22 + 1) == frozenset()
