"""Similarity of kernels: clones are near, other structures and operations are not, whatever the order of lines."""

from __future__ import annotations

import os
import re
import signal

import numpy as np
import pytest
from kernels_text import BLOCKED, CUDA, MULTI_ROW, ONE_ROW, swap

pytest.importorskip("tree_sitter_cuda", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("tree_sitter_python", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("rensa", reason="needs rensa: pip install 'kernel-engine[curate]'")

from kengine.curate.code import sketch as module
from kengine.curate.code.bands import CROWD, Buckets
from kengine.curate.code.shingles import LENGTH, shingle
from kengine.curate.code.sketch import bands_for, count_shared, join, similarity, sketch
from kengine.curate.code.tokens import tokenise
from kengine.curate.code.workers import Worker, sketch_all


def alike(one: str, other: str, path: str = "a.py") -> float:
    found = sketch([[(path, one)], [(path, other)]])
    return similarity(found.shingles_of(0), found.shingles_of(1))


def test_three_structures_of_one_operator_are_far_apart() -> None:
    assert alike(ONE_ROW, BLOCKED) < 0.65 and alike(ONE_ROW, MULTI_ROW) < 0.55 and alike(BLOCKED, MULTI_ROW) < 0.5


@pytest.mark.parametrize(
    ("other", "least"),
    [
        (ONE_ROW.replace("cols", "lanes").replace("rms", "scale"), 1.0),
        (swap(ONE_ROW, "row =", "cols ="), 1.0),
        (swap(ONE_ROW, "rms =", "g ="), 1.0),
        (ONE_ROW.replace("BLOCK_N=1024", "BLOCK_N=triton.next_power_of_2(x.shape[1])"), 0.85),
        (ONE_ROW.replace("BLOCK_N=1024", "BLOCK_N=256, num_warps=8"), 0.95),
        (ONE_ROW.replace("    y = torch.empty", "    assert x.is_contiguous()\n    y = torch.empty"), 0.9),
        (ONE_ROW.replace("mask=mask, other=0.0", "mask=mask, other=0.0, cache_modifier='.ca'"), 0.8),
    ],
    ids=["renamed", "reordered", "reordered-2", "block", "warps", "assert", "cache"],
)
def test_clones_are_near(other, least) -> None:
    assert other != ONE_ROW and alike(ONE_ROW, other) >= least


def test_order_counts_where_one_line_needs_the_other() -> None:
    chain = "def f(x):\n    a = tl.exp(x)\n    b = tl.sin(a)\n    c = tl.log(b)\n    d = tl.cos(c)\n    return d\n"
    other = chain.replace("exp", "?").replace("cos", "exp").replace("?", "cos")
    assert alike(chain, other) < 0.7
    for text in (chain, "void f(float x) {\n  x = expf(x);\n  x = sinf(x);\n  x = logf(x);\n  y[0] = cosf(x);\n}\n"):
        path = "a.py" if "def" in text else "a.cu"
        again = re.sub(r"\b[abcd]\b", "x", text)
        assert alike(again, swap(again, again.split("\n")[1].strip(), again.split("\n")[2].strip()), path) < 0.9


def test_an_inserted_name_does_not_change_the_rest() -> None:
    lines = ONE_ROW.split("\n")
    lines.insert(lines.index("    cols = tl.arange(0, BLOCK_N)"), "    unused = tl.num_programs(0)")
    assert alike(ONE_ROW, "\n".join(lines)) > 0.95


def test_cuda() -> None:
    assert alike(CUDA, CUDA.replace("sum", "acc").replace("256", "128"), "a.cu") == 1.0
    atomic = CUDA.replace("part[threadIdx.x] = sum;", "atomicAdd(&part[0], sum);")
    assert 0.7 < alike(CUDA, atomic, "a.cu") < 1.0


def test_short_and_empty_code() -> None:
    found = sketch([[("a.py", "")], [("a.py", "x = 1")], [("a.py", "x = 2")], [], [("a.py", "y = 1")]])
    assert np.diff(found.offsets).tolist() == [0, 1, 1, 0, 1]
    assert similarity(found.shingles_of(0), found.shingles_of(3)) == 0.0
    assert similarity(found.shingles_of(1), found.shingles_of(4)) == 1.0
    assert similarity(found.shingles_of(1), found.shingles_of(2)) == 0.0
    assert len(sketch([])) == 0 and sketch([], 0.8).bands.shape[0] == 0


def test_a_batch_gives_what_each_gives_alone() -> None:
    texts = [ONE_ROW, "", BLOCKED, "x", MULTI_ROW, "x = 1\n" * 50]
    together = sketch([[("a.py", t)] for t in texts], 0.8)
    apart = join([sketch([[("a.py", t)]], 0.8) for t in texts])
    for name in ("digests", "vocabularies", "shingles", "offsets", "bands"):
        assert (getattr(together, name) == getattr(apart, name)).all(), name


def test_shingles_are_ascending_and_no_more_than_runs_and_uses() -> None:
    tokens = tokenise([("a.py", ONE_ROW)])
    found, offsets = shingle([tokens])
    assert (np.diff(found.astype(np.int64)) > 0).all() and offsets.tolist() == [0, len(found)]
    uses = int((tokens.names >= 0).sum())
    assert LENGTH < len(found) <= len(tokens.kept) + uses


def test_shared_elements_are_counted() -> None:
    one, other = (np.array(v, dtype=np.uint32) for v in ([1, 5, 9], [0, 1, 2, 9, 4_000_000_000]))
    assert count_shared(one, other) == count_shared(other, one) == 2 and similarity(one, other) == 2 / 6


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.8, 0.9, 1.0])
def test_bands_find_what_is_at_the_threshold(threshold) -> None:
    bands, rows = bands_for(threshold)
    assert bands * rows <= module.PERMUTATIONS and 1 - (1 - threshold**rows) ** bands >= 0.999


def test_bands_of_similar_sets_meet() -> None:
    draw = np.random.default_rng(1)
    met = 0
    for _ in range(200):
        common = draw.integers(0, 2**32, 180, dtype=np.uint32)
        sets = [np.unique(np.append(common, draw.integers(0, 2**32, 20, dtype=np.uint32))) for _ in range(2)]
        offsets = np.array([0, len(sets[0]), len(sets[0]) + len(sets[1])])
        keys = module._bands(np.concatenate(sets), offsets, 0.8)
        met += bool((keys[0] == keys[1]).any())
    assert met >= 199


def test_buckets_find_what_was_put_in() -> None:
    keys = np.array([[1, 2, 3], [1, 5, 6], [7, 2, 3], [0, 0, 0], [0, 0, 0], [8, 9, 4]], dtype=np.uint64)
    buckets = Buckets(6, 3, lambda band: keys[:, band].copy())
    assert list(buckets.shared()) == [0, 1, 2] and buckets.find(0) == []
    buckets.put(0)
    assert buckets.find(1) == [0] and buckets.find(2) == [0] and buckets.find(5) == []
    buckets.put(1)
    buckets.put(2)
    assert buckets.find(0) == [0, 2, 1]


def test_a_crowded_bucket_is_split() -> None:
    count = 4 * CROWD
    keys = np.ones((count, 3), dtype=np.uint64)
    keys[:, 1] = np.arange(count) // 4 + 10
    buckets = Buckets(count, 3, lambda band: keys[:, band].copy())
    for n in range(count - 1):
        buckets.put(n)
    assert set(buckets.find(count - 1)[:3]) == {count - 4, count - 3, count - 2}


def batches(count: int):
    return iter([[[("a.py", ONE_ROW.replace("1024", str(n)).replace("row", f"r{n}"))]] * 3 for n in range(count)])


def test_processes_give_the_same_in_the_same_order() -> None:
    one = join(list(sketch_all(batches(7), 0.8, 1)))
    two = join(list(sketch_all(batches(7), 0.8, 2)))
    assert len(one) == 21 and (one.digests == two.digests).all() and (one.bands == two.bands).all()
    assert list(sketch_all(iter(()), 0.8, 2)) == []


def test_a_process_that_dies_of_a_text_costs_that_text_alone(monkeypatch) -> None:
    worker = Worker(0.8)
    try:
        before = worker.sketch([[("a.py", ONE_ROW)]])
        os.kill(worker._process.pid, signal.SIGKILL)
        after = worker.sketch([[("a.py", ONE_ROW)], [("a.py", BLOCKED)]])
        assert (after.digests[0] == before.digests[0]).all()

        ask = Worker._ask
        monkeypatch.setattr(
            Worker, "_ask", lambda self, f: None if BLOCKED in str(f[-1][0]) + f[-1][0][1] else ask(self, f)
        )
        third = worker.sketch([[("a.py", ONE_ROW)], [("a.py", BLOCKED)]])
        assert (third.digests[0] == before.digests[0]).all() and (third.digests[1] != after.digests[1]).any()
        assert len(third.shingles_of(1)) == 1
    finally:
        worker.close()
    assert worker._process is None
