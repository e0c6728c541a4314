from kengine.testing import BackendConformance


class TestPallas(BackendConformance):
    backend = "pallas"
