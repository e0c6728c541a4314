"""The conformance kit on cuda:cpu; chips without a device are skipped with their reason."""

from __future__ import annotations

import importlib.util

import pytest
from kengine import Plan
from kengine.testing import BackendConformance

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")


class TestCuda(BackendConformance):
    backend = "cuda"
    plan = Plan(launch_timeout_s=8.0)
