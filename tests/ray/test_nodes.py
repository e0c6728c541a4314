"""What is leased, of descriptions of clusters that this machine need not have."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from kengine.config import Plan
from kengine.engine import ray_nodes
from kengine.errors import BackendNotFound, TargetUnavailable, UsageError
from kengine.model import Capability, Target, TargetInfo

BOTH = (Capability.compile, Capability.launch)


def node(address="10.0.0.1", alive=True, **resources):
    marks = {f"node:{address}": 1.0, "memory": 1e9, "object_store_memory": 1e9}
    return {
        "NodeID": f"id-{address}", "NodeName": address, "NodeManagerHostname": "host", "NodeManagerAddress": address,
        "Alive": alive, "Resources": {**resources, **marks},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("nodes", "lease", "slots", "workers", "expected"),
    [
        ([node(CPU=2)], {}, None, None, ({"CPU": 2}, 2, 1)),
        ([node(CPU=64)], {}, None, None, ({"CPU": 8}, 8, 8)),
        ([node(CPU=64), node(CPU=3)], {}, None, None, ({"CPU": 3}, 3, 22)),
        ([node(CPU=64), node(CPU=64, alive=False)], {}, None, None, ({"CPU": 8}, 8, 8)),
        ([node(CPU=64)], {}, None, 3, ({"CPU": 3}, 3, 1)),
        ([node(CPU=64)], {}, 1, 3, ({"CPU": 1}, 1, 3)),
        ([node(CPU=64)], {}, None, 20, ({"CPU": 8}, 8, 3)),
        ([node(CPU=0), node(CPU=4)], {}, None, None, ({"CPU": 4}, 4, 1)),
        ([node(CPU=32, GPU=8), node(CPU=64)], {"GPU": 1}, None, None, ({"GPU": 1, "CPU": 4}, 4, 8)),
        ([node(CPU=32, GPU=8), node(CPU=4, GPU=4)], {"GPU": 1}, None, None, ({"GPU": 1, "CPU": 1}, 1, 12)),
        ([node(CPU=2, GPU=4)], {"GPU": 1}, None, None, ({"GPU": 1, "CPU": 1}, 1, 2)),
        ([node(CPU=8, GPU=1)], {"GPU": 0.5}, None, None, ({"GPU": 0.5, "CPU": 4}, 4, 2)),
        ([node(CPU=8, neuron_cores=2)], {"neuron_cores": 1}, None, None, ({"neuron_cores": 1, "CPU": 4}, 4, 2)),
        ([node(CPU=2)], {"GPU": 1}, 4, 8, ({"GPU": 1, "CPU": 4}, 4, 2)),  # an autoscaler may bring them
    ],
)
def test_shape(nodes, lease, slots, workers, expected):
    assert ray_nodes.find_shape(nodes, lease, slots, workers) == expected


def test_no_room_says_what_there_is():
    with pytest.raises(TargetUnavailable, match=r"has CPU 8, GPU 1 to lease; it has 10.0.0.1 with CPU 2$"):
        ray_nodes.find_shape([node(CPU=2)], {"GPU": 1}, None, None)
    with pytest.raises(TargetUnavailable, match="it has no node"):
        ray_nodes.find_shape([], {}, None, None)


@pytest.mark.parametrize(("slots", "workers", "name"), [(0, None, "slots"), (None, 0, "workers"), (-1, 2, "slots")])
def test_counts_are_positive(slots, workers, name):
    with pytest.raises(UsageError, match=f"{name}: want at least 1"):
        ray_nodes.find_shape([node(CPU=2)], {}, slots, workers)


def _backend(*infos):
    return SimpleNamespace(name="acme", distribution="acme-kernels", version="1.2", targets=lambda: infos)


CPU = TargetInfo(Target("acme", "sim"), True, BOTH, {"time": "no"})
GPU = TargetInfo(Target("acme", "g1"), False, BOTH, {"time": "no"}, device="cuda")
CARD = TargetInfo(Target("acme", "c1"), False, BOTH, {"time": "no"})


@pytest.mark.parametrize(
    ("target", "plan", "asked", "gpus", "expected"),
    [
        (None, Plan(), None, 0, {}),
        (None, Plan(), None, 4, {"GPU": 1}),
        ("acme:sim", Plan(), None, 4, {}),
        ("acme:g1", Plan(), None, 0, {"GPU": 1}),
        ("acme:g1", Plan(check=False), None, 4, {}),
        ("acme:g1", Plan(), {"GPU": 0.5}, 4, {"GPU": 0.5}),
        ("acme:c1", Plan(), {"neuron_cores": 2}, 4, {"neuron_cores": 2}),
    ],
)
def test_lease(target, plan, asked, gpus, expected):
    ray = SimpleNamespace(cluster_resources=lambda: {"CPU": 8, "GPU": gpus})
    assert ray_nodes.find_lease(ray, _backend(CPU, GPU, CARD), target, plan, asked) == expected


def test_a_device_that_ray_does_not_know_must_be_named():
    ray = SimpleNamespace(cluster_resources=dict)
    with pytest.raises(UsageError, match=r"acme:c1 is a device, .*Cluster\(lease=\{'neuron_cores': 1\}\)"):
        ray_nodes.find_lease(ray, _backend(CARD), "acme:c1", Plan(), None)
    with pytest.raises(UsageError, match="want amounts above 0"):
        ray_nodes.find_lease(ray, _backend(GPU), None, Plan(), {"GPU": 0})
    with pytest.raises(UsageError, match=r"unknown target acme:g2 \(did you mean acme:g1"):
        ray_nodes.find_lease(ray, _backend(CPU, GPU), "acme:g2", Plan(), None)


def test_names_of_nodes():
    plain, named = node("10.0.0.1"), {**node("10.0.0.2"), "NodeName": "gpu-7"}
    assert ray_nodes.name([plain, named], "id-10.0.0.1") == "node host (10.0.0.1)"
    assert ray_nodes.name([plain, named], "id-10.0.0.2") == "node gpu-7 (10.0.0.2)"
    assert ray_nodes.name([], "0123456789abcdef") == "node 0123456789ab"


def test_what_a_node_lacks(monkeypatch):
    monkeypatch.setattr(ray_nodes, "__version__", "0.3.0")
    good = {"kengine": "0.3.0", "backend": "acme-kernels 1.2", "error": None}
    ray_nodes.check("node a", good, _backend())
    with pytest.raises(BackendNotFound) as caught:
        ray_nodes.check("node a", {**good, "backend": "", "error": BackendNotFound("no backend 'acme'")}, _backend())
    assert str(caught.value) == (
        "node a: the backend 'acme' is missing there; this machine has it from acme-kernels 1.2; install "
        "acme-kernels==1.2 on that node, or have Ray do it: ray.init(runtime_env={'pip': ['acme-kernels==1.2']})"
    )
    assert (caught.value.plugin, caught.value.distribution) == ("acme", "acme-kernels")
    with pytest.raises(BackendNotFound, match=r"node a: kengine is missing there \(No module.*kernel-engine==0.3.0"):
        ray_nodes.check("node a", {"kengine": "", "problem": "No module named 'kengine'"}, _backend())
    with pytest.raises(TargetUnavailable, match=r"node a: has kernel-engine 0.2.0, and this machine 0.3.0"):
        ray_nodes.check("node a", {**good, "kengine": "0.2.0"}, _backend())
    with pytest.raises(TargetUnavailable, match=r"node a: has the backend 'acme' from acme-kernels 1.1, and this"):
        ray_nodes.check("node a", {**good, "backend": "acme-kernels 1.1"}, _backend())
    with pytest.raises(TargetUnavailable, match=r"^node a: no card$"):
        ray_nodes.check("node a", {**good, "error": TargetUnavailable("no card")}, _backend())
