"""The conformance kit on the CUDA backend, on every target that can compile or launch here."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from kengine import Plan
from kengine.testing import BackendConformance

pytestmark = [
    pytest.mark.skipif(find_spec("torch") is None, reason="needs torch: pip install 'kernel-engine[cuda]'"),
    pytest.mark.skipif(
        find_spec("kengine_cuda") is None or find_spec("kengine_cuda.conformance") is None,
        reason="kengine_cuda supplies no golden kernels",
    ),
]


class TestCuda(BackendConformance):
    backend = "cuda"
    plan = Plan(launch_timeout_s=8.0)
