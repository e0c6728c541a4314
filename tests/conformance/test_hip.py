"""The conformance kit on the HIP backend, on every target that can compile or launch here."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from kengine import Plan
from kengine.testing import BackendConformance

pytestmark = [
    pytest.mark.skipif(find_spec("torch") is None, reason="needs torch: pip install 'kernel-engine[hip]'"),
    pytest.mark.skipif(
        find_spec("kengine_hip") is None or find_spec("kengine_hip.conformance") is None,
        reason="kengine_hip supplies no golden kernels",
    ),
]


class TestHip(BackendConformance):
    backend = "hip"
    plan = Plan(launch_timeout_s=8.0)
