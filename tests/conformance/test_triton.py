"""The conformance kit on the Triton backend: its interpreter, and the compilers of every chip that it knows."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from kengine import Plan
from kengine.testing import BackendConformance

pytestmark = pytest.mark.skipif(
    not all(map(find_spec, ("torch", "triton"))), reason="needs torch and triton: pip install 'kernel-engine[triton]'"
)


class TestTriton(BackendConformance):
    backend = "triton"
    plan = Plan(launch_timeout_s=8.0)
