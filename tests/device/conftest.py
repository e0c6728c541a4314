"""Tests that need a GPU: `make test-device` runs them, everything else skips them with the reason."""

from __future__ import annotations

import pytest
from alone import run_alone
from kengine.model import Capability
from kengine.plugins import backend as backends


def device_target():
    """The local device's Triton target, or the reason why there is none."""
    infos = backends.load("triton").targets()
    able = [i for i in infos if Capability.time in i.capabilities]
    if able:
        return able[0], ""
    reasons = [i.reasons.get("launch", "") for i in infos if not i.emulated]
    return None, reasons[0] if reasons else "no Triton target"


@pytest.fixture(scope="session")
def target():
    info, reason = device_target()
    if info is None:
        pytest.skip(reason)
    return str(info.target)


def pytest_pyfunc_call(pyfuncitem):
    """The plugin changes Triton's classes for good, as it does in a runner."""
    return run_alone(pyfuncitem) if pyfuncitem.path.name == "test_triton_double.py" else None
