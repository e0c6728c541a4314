"""The conformance kit on the NKI backend, on every target that can compile or launch here."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from kengine import Plan
from kengine.testing import BackendConformance

pytestmark = [
    pytest.mark.skipif(find_spec("ml_dtypes") is None, reason="needs ml_dtypes: pip install 'kernel-engine[nki]'"),
    pytest.mark.skipif(
        find_spec("kengine_nki") is None or find_spec("kengine_nki.conformance") is None,
        reason="kengine_nki supplies no golden kernels",
    ),
]


class TestNki(BackendConformance):
    backend = "nki"
    plan = Plan(launch_timeout_s=8.0, ignore=("K",))  # its lint refuses most of the bad ones first
