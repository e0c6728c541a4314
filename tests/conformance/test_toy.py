"""The conformance kit on the toy backend, which every author copies."""

from __future__ import annotations

from kengine.testing import BackendConformance


class TestToy(BackendConformance):
    backend = "toy"
