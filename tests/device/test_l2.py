"""What is done to the cache before a timed call, on a stand-in for the driver, and once on a device."""

from __future__ import annotations

import pytest
from kengine.device import l2


class Driver:
    def __init__(self, limit=0, reset=0):
        self.limit, self.reset, self.calls = limit, reset, []

    def cuCtxSetLimit(self, which, size):
        self.calls.append(("limit", which, size.value))
        return self.limit

    def cuCtxResetPersistingL2Cache(self):
        self.calls.append(("reset",))
        return self.reset


def test_the_limit_is_taken_back_before_the_lines(monkeypatch):
    driver = Driver()
    monkeypatch.setattr(l2, "_driver", lambda: driver)
    assert l2.reset_persisting()
    assert driver.calls == [("limit", 6, 0), ("reset",)]


@pytest.mark.parametrize("driver", [None, object(), Driver(limit=1), Driver(reset=1)])
def test_chips_without_persisting_lines_are_no_error(monkeypatch, driver):
    monkeypatch.setattr(l2, "_driver", lambda: driver)
    assert not l2.reset_persisting()


def test_every_flush_resets(monkeypatch):
    torch = pytest.importorskip("torch")
    driver, made = Driver(), []

    class Buffer:
        def zero_(self):
            driver.calls.append(("write",))

    monkeypatch.setattr(l2, "_driver", lambda: driver)
    monkeypatch.setattr(l2, "cache_bytes", lambda: 64)
    monkeypatch.setattr(torch, "empty", lambda n, dtype, device: made.append(n) or Buffer())
    flush = l2.Flush()
    flush()
    flush()
    assert made == [2 * 64 // 4]
    assert [c[0] for c in driver.calls] == ["limit", "reset", "write"] * 2


@pytest.mark.device
def test_on_a_device():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available() or torch.version.hip:
        pytest.skip("needs a CUDA device")
    torch.cuda.current_stream()
    torch.zeros(1, device="cuda")
    assert l2.reset_persisting() is (torch.cuda.get_device_capability() >= (8, 0))
