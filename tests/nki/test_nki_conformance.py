"""The conformance kit on every target of the NKI backend that can launch here."""

from __future__ import annotations

from kengine import Plan
from kengine.testing import BackendConformance


class TestNki(BackendConformance):
    backend = "nki"
    plan = Plan(launch_timeout_s=5.0, ignore=("KE", "KN"))
