"""Seeds, the cache, arenas, and the server over a real socket in a process of its own."""

from __future__ import annotations

import fcntl
import itertools
import mmap
import os
import socket
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine import codec, wire
from kengine.judge.arena import HostArena, make_arena
from kengine.judge.cache import ByteCache
from kengine.judge.seeds import derive
from kengine.model import Task


def test_seeds_are_disjoint_and_of_64_bits():
    parts = itertools.product(
        ("00" * 8, "ff" * 8), ("d1", "d2"), ("a", "b", "ab"), ("check", "screen", "time/1/2"), (0, 1)
    )
    seeds = [derive(*p) for p in parts]
    assert len(set(seeds)) == len(seeds) == 72
    assert all(0 <= s < 2**64 for s in seeds) and max(seeds) > 2**60
    assert derive("00", "d", "a", "check", 0) == derive("00", "d", "a", "check", 0)


@given(st.lists(st.text(max_size=4), min_size=4, max_size=4), st.lists(st.text(max_size=4), min_size=4, max_size=4))
def test_seeds_never_run_parts_together(a, b):
    assert (derive(*a) == derive(*b)) is (a == b)


def test_cache_keeps_its_bound():
    cache = ByteCache[str](100)
    for n in range(10):
        cache.put(("t", n), str(n), 30)
    assert cache.held == 90 and len(cache) == 3 and cache.get(("t", 7)) == "7" and cache.get(("t", 0)) is None
    cache.put(("t", 10), "x", 30)
    assert cache.get(("t", 8)) is None and cache.get(("t", 7)) == "7"
    cache.put(("u", 1), "large", 101)
    assert cache.get(("u", 1)) is None and cache.held == 90
    cache.put(("t", 7), "7 again", 10)
    assert cache.held == 70
    cache.drop_all("t")
    assert cache.held == 0 and len(cache) == 0


def test_host_arena_is_sealed_and_given_back():
    before = os.listdir("/proc/self/fd")
    arena = make_arena("cpu", 5000)
    assert isinstance(arena, HostArena) and arena.nbytes == 8192
    arena.view[:3] = (1, 2, 3)
    with mmap.mmap(arena.fd, arena.nbytes) as other:
        assert other[:3] == b"\1\2\3"
    for size in (0, 1 << 20):
        with pytest.raises(OSError, match="not permitted"):
            os.ftruncate(arena.fd, size)
    with pytest.raises(OSError, match="not permitted"):
        fcntl.fcntl(arena.fd, 1033, 0)
    arena.close()
    arena.close()
    assert sorted(os.listdir("/proc/self/fd")) == sorted(before)


SOURCE = """
import numpy as np
def forward(x):
    return np.tanh(x)
def get_inputs():
    return [np.random.randn(4, 5).astype(np.float32)]
"""


@pytest.fixture
def served():
    ours, theirs = socket.socketpair()
    theirs.set_inheritable(True)
    import kengine

    root = next(iter(kengine.__path__)).rsplit("/", 1)[0]
    process = subprocess.Popen(
        [sys.executable, "-m", "kengine.judge.server", "--fd", str(theirs.fileno())],
        pass_fds=(theirs.fileno(),),
        env={**os.environ, "PYTHONPATH": root},
    )
    theirs.close()
    yield ours
    ours.close()
    assert process.wait(20) == 0


def ask(sock, **message):
    wire.send(sock, message)
    return wire.receive(sock)


def test_server(served):
    task = codec.to_json(Task("n", "numpy", SOURCE))
    request = {"op": "open", "task": task, "salt": "ab" * 8, "device": "cpu", "cases": 2, "screen": True}
    opened, _ = ask(served, **request)
    assert opened["ok"], opened
    assert [c["name"] for c in opened["cases"]] == ["draw0", "outlier"]
    assert ask(served, **request)[0] == opened
    lent, fds = ask(served, op="lend", task_id=opened["task_id"], cases=[0, 1], phase="check", holder="r")
    assert len(fds) == 1 and os.fstat(fds[0]).st_size == lent["bundles"][0]["arena"]["nbytes"]
    assert lent["bundles"][0]["args"][0]["at"] < lent["bundles"][1]["args"][0]["at"]
    wire.close_all(fds)
    pong, _ = ask(served, op="ping")
    assert pong["tasks"] == 1 and pong["holders"] == 1 and pong["lent_bytes"] > 0 and pong["kept_bytes"] > 0
    assert ask(served, op="release", holder="r")[0] == {"ok": True, "released": True}
    assert ask(served, op="release", holder="r")[0] == {"ok": True, "released": False}
    assert ask(served, op="close", task_id=opened["task_id"])[0]["closed"] is True
    pong, _ = ask(served, op="ping")
    assert (pong["tasks"], pong["holders"], pong["lent_bytes"], pong["kept_bytes"]) == (0, 0, 0, 0)
    lost, _ = ask(served, op="lend", task_id=opened["task_id"], cases=[0], phase="check", holder="r")
    assert lost["error"] == "infra" and "not open" in lost["message"]
    gone, _ = ask(served, **{**request, "device": "cuda"})
    if not gone["ok"]:
        assert gone["error"] == "unavailable" and ("torch" in gone["message"] or "device" in gone["message"])
    assert ask(served, **{**request, "device": "quantum"})[0]["error"] == "usage"


def test_garbage_ends_the_server(served):
    served.sendall(b"\xff" * 64)
    with pytest.raises(wire.WireClosed):
        wire.receive(served)


def test_no_growth_over_many_candidates(bench, make_task):
    pytest.importorskip("torch")
    bench.open(make_task(SOURCE, form="numpy"))
    import numpy as np

    def once(n):
        (lent,) = bench.lend(n % 2, holder=f"r{n}")
        answer = bench.compare(n % 2, lent.describe([np.tanh(lent.args[0])]), holder=f"r{n}")
        assert answer["comparison"]["ok"]
        fd = lent.map
        lent.args, lent.destination = [], []
        lent.view.release()
        fd.close()
        bench.ask("release", holder=f"r{n}")

    for n in range(4):
        once(n)
    before = len(os.listdir("/proc/self/fd"))
    for n in range(100):
        once(n)
    # The bench itself duplicates one descriptor for each lend; the judge keeps none.
    assert len(os.listdir("/proc/self/fd")) - before <= 100
    assert bench.judge.holders == {}
