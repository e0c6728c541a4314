"""A Ray cluster of this machine: nodes that are processes, started and killed at will."""

from __future__ import annotations

import os
import time

import pytest

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_AUTH_MODE", "disabled")


@pytest.fixture(scope="module")
def cluster():
    """A cluster of one node, `head`, of one CPU; this process has joined it."""
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'kernel-engine[ray]'")
    cluster_utils = pytest.importorskip("ray.cluster_utils", reason="needs Ray's local clusters")
    assert not ray.is_initialized()
    made = cluster_utils.Cluster(
        initialize_head=True, head_node_args={"num_cpus": 1, "node_name": "head", "include_dashboard": False}
    )
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


@pytest.fixture
def nodes(cluster):
    """Further nodes for one test: `nodes.add(name)`, of one CPU unless told otherwise, and `nodes.kill(name)`."""
    import ray

    class Nodes:
        def __init__(self):
            self.named = {}

        def add(self, name, environ=None, **options):
            before = dict(os.environ)
            os.environ.update(environ or {})
            try:
                self.named[name] = cluster.add_node(node_name=name, **{"num_cpus": 1, **options})
            finally:
                os.environ.clear()
                os.environ.update(before)

        def kill(self, name):
            """Kill every process of a node, as a power cut would."""
            cluster.remove_node(self.named.pop(name), allow_graceful=False)

    made = Nodes()
    yield made
    for name in list(made.named):
        made.kill(name)
    # Ray counts a node as alive until it has been silent for a while.
    end = time.monotonic() + 60
    while sum(node["Alive"] for node in ray.nodes()) > 1 and time.monotonic() < end:
        time.sleep(0.1)
