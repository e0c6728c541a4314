"""The HIP backend passes the kit on both of its emulators."""

from __future__ import annotations

import importlib.util

import pytest
from kengine.testing import BackendConformance

if importlib.util.find_spec("torch") is None:
    pytest.skip("needs torch: pip install 'kernel-engine[hip]'", allow_module_level=True)


class TestHip(BackendConformance):
    backend = "hip"
