"""Engines on a Ray cluster of two nodes, one of which does not live to see the end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import kengine
import pytest
from kengine import codec
from kengine.config import Plan
from kengine.engine.ray import Cluster
from kengine.errors import BackendNotFound, TargetUnavailable, TaskError, UsageError, WorkerLost
from kengine.model import Status
from kengine.plugins import PluginWarning
from toy_items import GOOD, candidate, item

FAKES = Path(__file__).resolve().parents[1] / "plugins" / "fake_dists"


def items(count, seconds=0.0):
    """Good candidates, each another text, each busy for a while in every call."""
    body = f"import time\ntime.sleep({seconds})" if seconds else ""
    return [item(f"# {n}\n{candidate(body)}") for n in range(count)]


def names(verdicts):
    return [v.candidate.main.text.splitlines()[0] for v in verdicts]


def names_of(work):
    return [i.candidate.main.text.splitlines()[0] for i in work]


def written(verdicts):
    return [codec.dumps(v) for v in verdicts]


def alive(pids):
    return [pid for pid in pids if pid and Path(f"/proc/{pid}").exists()]


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_verdicts_are_those_of_a_local_engine(nodes, tmp_path):
    nodes.add("second")
    plan = Plan(salt="00" * 8)
    work = [*items(6), item(GOOD.replace("x[rows] + y", "x[rows] - y"))]
    with kengine.Engine("toy", executor="ray", plan=plan, run=tmp_path) as engine:
        assert str(engine.target_info.target) == "toy:cpu"
        assert engine.workers == 2
        engine.warm()
        verdicts = list(engine.verify_many(work))
        places = {name.split(" (")[0] for name in engine.processes()}
        pids = list(engine.processes().values())
        one = engine.verify(work[-1])
    assert names(verdicts) == names_of(work)
    assert places == {"node head", "node second"}
    with kengine.Engine("toy", plan=plan) as engine:
        local = list(engine.verify_many(work))
    for ours, theirs in zip(verdicts, local):
        assert (ours.status, ours.message, ours.salt, ours.plan, ours.digests, ours.target) == (
            theirs.status, theirs.message, theirs.salt, theirs.plan, theirs.digests, theirs.target,
        )  # fmt: skip
    assert one.status is Status.wrong_result
    assert written([one]) == written(verdicts[-1:]), "the second time it comes from the store"
    assert until(lambda: not alive(pids)), "every process ends with the engine"


def test_a_node_is_killed_in_the_middle(nodes, tmp_path):
    nodes.add("doomed")
    work = items(24, seconds=0.05)
    with kengine.Engine(target="toy:cpu", executor="ray", run=tmp_path) as engine:
        pids = [pid for name, pid in engine.processes().items() if name.startswith("node doomed")]
        assert alive(pids)
        seen = []
        for n, verdict in enumerate(engine.verify_many(work)):
            seen.append(verdict)
            if n == 3:
                nodes.kill("doomed")
        left = {name.split(" (")[0] for name in engine.processes()}
        assert until(lambda: not alive(pids)), "its processes do not outlive the node"
    assert [v.status for v in seen] == [Status.passed] * len(work)
    assert names(seen) == [f"# {n}" for n in range(len(work))]
    assert left == {"node head"}
    assert len(_store(tmp_path)) == len(work)


def test_a_node_that_joins_later_takes_the_place_of_one_that_was_lost(nodes):
    nodes.add("doomed")
    with kengine.Engine(target="toy:cpu", executor="ray") as engine:
        nodes.kill("doomed")
        assert all(v.passed for v in engine.verify_many(items(4)))
        nodes.add("fresh")
        assert until(lambda: any(n.startswith("node fresh") for n in engine.processes()), 60)
        assert all(v.passed for v in engine.verify_many(items(6)))


def test_actors_are_killed_again_and_again(nodes):
    nodes.add("second")
    work = items(40, seconds=0.05)
    stop = threading.Event()
    killed = []

    def hunt():
        # One at a time, and only some: an actor that is killed whenever it comes up never judges.
        while len(killed) < 3 and not stop.wait(0.5):
            if len(running := _actors()) == 2:
                os.kill(running[0], signal.SIGKILL)
                killed.append(running[0])

    with kengine.Engine(target="toy:cpu", executor="ray") as engine:
        hunter = threading.Thread(target=hunt)
        hunter.start()
        try:
            verdicts = list(engine.verify_many(work))
        finally:
            stop.set()
            hunter.join()
    assert killed
    assert [v.status for v in verdicts] == [Status.passed] * len(work)
    assert names(verdicts) == [f"# {n}" for n in range(len(work))]


def test_a_run_goes_on_where_it_was(cluster, tmp_path):
    work = items(5)
    plan = Plan(salt="ab" * 8)
    with kengine.Engine(target="toy:cpu", executor="ray", plan=plan, run=tmp_path) as engine:
        first = list(engine.verify_many(work[:3]))
    with kengine.Engine(target="toy:cpu", executor="ray", plan=plan, run=tmp_path) as engine:
        again = list(engine.verify_many(work))
    assert written(again[:3]) == written(first)
    with kengine.Engine(target="toy:cpu", plan=plan, run=tmp_path) as engine:
        assert written(engine.verify_many(work)) == written(again), "a local engine reads the same store"


def test_errors_stand_in_their_places(cluster):
    good, *_ = items(1)
    task = "def reference(x):\n    raise ValueError('no')\n\ndef make_inputs(seed, device):\n    return (1.0,)\n"
    broken = item(GOOD, task)
    with kengine.Engine(target="toy:cpu", executor="ray") as engine:
        got = list(engine.verify_many([good, broken, good], return_exceptions=True))
        with pytest.raises(TaskError, match="raise"):
            engine.verify(broken)

        async def gather():
            return [v async for v in engine.verify_many([good, good])]

        assert [v.status for v in asyncio.run(gather())] == [Status.passed] * 2
    assert [type(g).__name__ for g in got] == ["Verdict", "TaskError", "Verdict"]
    with pytest.raises(WorkerLost, match="closed"):
        engine.verify(good)


def test_a_backend_that_a_node_lacks_is_named_with_the_node(nodes, monkeypatch):
    # The workers of a node see the packages on the path that the node was started with.
    nodes.add("bare")
    monkeypatch.syspath_prepend(str(FAKES / "good"))
    try:
        with pytest.raises(BackendNotFound) as caught:
            kengine.Engine(target="good:x1", executor="ray")
    finally:
        for name in [m for m in sys.modules if m.partition(".")[0] == "fake_good"]:
            del sys.modules[name]
    assert "the backend 'good' is missing there; this machine has it from fake-good 2.5" in str(caught.value)
    assert "install fake-good==2.5 on that node" in str(caught.value)
    assert str(caught.value).startswith(("node head (", "node bare ("))
    assert (caught.value.plugin, caught.value.distribution) == ("good", "fake-good")
    assert until(lambda: not _actors())


def test_a_node_without_kengine_is_named(nodes, tmp_path):
    # A package of this name that cannot be imported, before the real one on that node's path.
    (tmp_path / "kengine").mkdir()
    (tmp_path / "kengine" / "__init__.py").write_text("raise ImportError('not on this node')\n")
    nodes.add("bare", {"PYTHONPATH": str(tmp_path)})
    with pytest.raises(BackendNotFound, match=r"^node bare \(.*\): kengine is missing there \(not on this node\)"):
        kengine.Engine(target="toy:cpu", executor="ray")


def test_a_node_that_lacks_it_and_joins_late_is_done_without(nodes, tmp_path):
    (tmp_path / "kengine").mkdir()
    (tmp_path / "kengine" / "__init__.py").write_text("raise ImportError('not on this node')\n")
    nodes.add("doomed")
    with kengine.Engine(target="toy:cpu", executor="ray") as engine:
        nodes.kill("doomed")
        with pytest.warns(PluginWarning, match=r"node bare \(.*kengine is missing there.*going on without it"):
            assert all(v.passed for v in engine.verify_many(items(3)))
            nodes.add("bare", {"PYTHONPATH": str(tmp_path)})
            assert until(lambda: not engine._actors._starting, 60)
        assert all(v.passed for v in engine.verify_many(items(3)))


def test_a_device_is_leased_only_for_a_device(nodes):
    nodes.add("with-gpu", num_cpus=1, num_gpus=1)
    with kengine.Engine("toy", executor="ray") as engine:  # has no device target: GPUs stay free
        import ray

        assert engine.workers == 2
        assert ray.available_resources()["GPU"] == 1
        assert engine.verify(items(1)[0]).passed
    with kengine.Engine("toy", executor=Cluster(lease={"GPU": 0.5})) as engine:
        assert engine.workers == 1
        assert until(lambda: ray.available_resources().get("GPU") == 0.5)
        assert {n.split(" (")[0] for n in engine.processes()} == {"node with-gpu"}


def test_no_room_is_said_at_once(cluster):
    with pytest.raises(TargetUnavailable, match=r"no node of the Ray cluster has CPU \d+, GPU 1 to lease"):
        kengine.Engine("toy", executor=Cluster(lease={"GPU": 1}))


def test_room_that_others_hold(cluster):
    import ray

    @ray.remote(num_cpus=1)
    class Other:
        def ping(self):
            return 1

    other = Other.remote()
    assert ray.get(other.ping.remote()) == 1
    with pytest.raises(TargetUnavailable, match=r"Ray had no room for an actor that leases CPU 1 within 2 s"):
        kengine.Engine("toy", executor=Cluster(patience_s=2.0))
    ray.kill(other)


def test_the_last_actor_is_lost_and_no_room_is_left(cluster):
    import ray

    @ray.remote(num_cpus=1)
    class Other:
        pass

    with kengine.Engine(target="toy:cpu", executor=Cluster(patience_s=3.0)) as engine:
        assert engine.verify(items(1)[0]).passed
        other = Other.remote()  # waits for the processor that the actor holds
        for pid in _actors():
            os.kill(pid, signal.SIGKILL)
        with pytest.raises(WorkerLost):
            engine.verify(items(1)[0])
        ray.kill(other)
        assert until(lambda: engine.verify(items(1)[0]).passed, 30)


def test_after_a_fork_the_child_is_refused(cluster):
    with kengine.Engine(target="toy:cpu", executor="ray") as engine:
        read, write = os.pipe()
        if os.fork() == 0:
            try:
                engine.verify(items(1)[0])
            except UsageError as error:
                os.write(write, str(error).encode())
            os._exit(0)
        os.close(write)
        said = b""
        while piece := os.read(read, 4096):
            said += piece
        os.close(read)
        os.wait()
        assert b"make an Engine of its own after a fork" in said


def test_closing_while_candidates_run(cluster):
    engine = kengine.Engine(target="toy:cpu", executor="ray")
    batch = iter(engine.verify_many(items(6, seconds=0.3), return_exceptions=True))
    assert next(batch).passed
    engine.close()
    engine.close()
    rest = list(batch)
    # One that was about to be done may have got there before its worker was gone.
    assert isinstance(rest[-1], WorkerLost) and all(isinstance(each, (WorkerLost, kengine.Verdict)) for each in rest)
    assert until(lambda: not _actors())


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UsageError, match=r"pip install 'kernel-engine\[ray\]'"):
        kengine.Engine(target="toy:cpu", executor="ray")


@pytest.mark.parametrize("executor", ["rya", "", None, 3])
def test_unknown_executors(executor):
    with pytest.raises(UsageError, match=r"allowed: 'local', 'ray', or a kengine.engine.ray.Cluster"):
        kengine.Engine(target="toy:cpu", executor=executor)


def test_no_cluster_at_an_address(monkeypatch):
    ray = pytest.importorskip("ray", reason="needs Ray: pip install 'kernel-engine[ray]'")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(UsageError, match=r"no Ray cluster at 127.0.0.1:1: .*refused"):
        kengine.Engine(target="toy:cpu", executor=Cluster(address="127.0.0.1:1"))


def test_ray_is_imported_only_when_it_is_asked_for():
    code = (
        "import sys, kengine\n"
        "with kengine.Engine(target='toy:cpu', workers=1): pass\n"
        "print([m for m in sys.modules if m == 'ray' or m.startswith('kengine.engine.ray')])"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    environ = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=False)
    assert done.stdout.strip() == "[]", done.stderr


def _store(folder):
    from kengine.engine.store import Store

    store = Store(folder)
    try:
        return list(store)
    finally:
        store.close()


def _actors():
    """Process numbers of this user's actors, by the title that Ray gives them."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().startswith(b"ray::KengineWorker"):
                found.append(int(path.parent.name))
        except OSError:
            continue
    return sorted(found)
