"""View methods of tensors against their formulas, in both generations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kengine_nki.sim import NkiError
from kengine_nki.sim.coverage import coverage
from sim_harness import NEW, random, run

ENTRIES = {(e.generation, e.name): e for e in coverage() if e.module == "tensor"}
X = random(128, 8)
ROWS = np.random.default_rng(2).integers(0, 128, (16, 1)).astype(np.int32)
NEW_VIEWS = {
    "ap": lambda t: t.ap(pattern=[[8, 128], [2, 4]]),
    "broadcast": lambda t: t.expand_dim(1).broadcast(1, 3),
    "expand_dim": lambda t: t.expand_dim(1),
    "flatten_dims": lambda t: t.reshape_dim(1, (2, -1)).flatten_dims(1, 2),
    "permute": lambda t: t.reshape((128, 2, 4)).permute((0, 2, 1)),
    "rearrange": None,
    "reinterpret_cast": lambda t: t.reinterpret_cast(NEW.language.int32),
    "reshape": lambda t: t.reshape((128, 2, -1)),
    "reshape_dim": lambda t: t.reshape_dim(1, (-1, 4)),
    "select": lambda t: t.reshape((128, 2, 4)).select(1, 1),
    "slice": lambda t: t.slice(1, 1, 7, 2),
    "squeeze_dim": lambda t: t.expand_dim(2).squeeze_dim(2),
    "view": lambda t: t.view(NEW.language.int32),
}
OLD_VIEWS = {
    "assert_shape": lambda t: t.assert_shape((128, 8)),
    "astype": lambda t: t.astype(np.int32),
    "broadcast_to": lambda t: t[:, 0:1].broadcast_to((128, 8)),
    "expand_dims": lambda t: t.expand_dims(1),
    "reshape": lambda t: t.reshape((128, 2, 4)),
    "view": lambda t: t.view(np.int32),
}


def expected(generation: str, name: str, **more: Any) -> Any:
    return eval(ENTRIES[generation, name].formula, {"np": np, "x": X, **more})


@pytest.mark.parametrize("name", [n for n, v in NEW_VIEWS.items() if v is not None])
def test_new_view(name: str) -> None:
    out = run("new", lambda lib, t: lib.language.copy(NEW_VIEWS[name](t["x"])), {"x": X})
    want = expected("new", name)
    assert out.dtype == want.dtype
    np.testing.assert_array_equal(out, want)


def test_rearrange() -> None:
    def body(lib: Any, t: Any) -> Any:
        view = t["x"].rearrange(("b", ("h", "w")), ("b", "w", "h"), {"h": 2})
        return lib.language.copy(view)

    out = run("new", body, {"x": X})
    assert out.shape == (128, 4, 2)
    np.testing.assert_array_equal(out.reshape(128, 8), expected("new", "rearrange"))


def test_rearrange_merges() -> None:
    nl, nisa = NEW.language, NEW.isa

    def kernel(x: Any) -> Any:
        out = nl.ndarray((8, 6), np.float32, buffer=nl.shared_hbm)
        tile = nl.ndarray((8, 6), np.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.rearrange(("a", "b", "c"), (("a", "b"), "c")))
        nisa.dma_copy(dst=out, src=tile)
        return out

    x = random(2, 4, 6)
    np.testing.assert_array_equal(NEW.jit(kernel)(x), x.reshape(8, 6))


def test_vector_select_and_dynamic_select() -> None:
    nl, nisa = NEW.language, NEW.isa

    def kernel(x: Any, rows: Any) -> Any:
        index = nl.load(rows)
        tile = nl.ndarray((16, 8), np.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x.vector_select(0, index))
        one = nl.ndarray((8, 1), np.float32, buffer=nl.sbuf)
        nisa.dma_copy(dst=one, src=x.select(0, index[3:4, :]))
        out, single = nl.ndarray((16, 8), np.float32, nl.shared_hbm), nl.ndarray((8, 1), np.float32, nl.shared_hbm)
        nisa.dma_copy(dst=out, src=tile)
        nisa.dma_copy(dst=single, src=one)
        return out, single

    out, single = NEW.jit(kernel)(X, ROWS)
    np.testing.assert_array_equal(out, expected("new", "vector_select", rows=ROWS[:, 0]))
    np.testing.assert_array_equal(single[:, 0], X[ROWS[3, 0]])


def test_indirect() -> None:
    order = np.random.default_rng(3).permutation(8)
    index = np.zeros((128, 1), np.int32)
    for group in range(0, 128, 16):
        index[group : group + 8, 0] = order

    out = run(
        "new", lambda lib, t: lib.language.copy(t["x"].indirect(t["i"], 8)), {"x": X, "i": index}, chip="trn3"
    )
    np.testing.assert_array_equal(out, expected("new", "indirect", order=order))
    with pytest.raises(NkiError, match="only supported for NeuronCore-v4 or newer"):
        run("new", lambda lib, t: t["x"].indirect(t["i"], 8), {"x": X, "i": index}, chip="trn2")


def test_queries() -> None:
    seen = {}

    def body(lib: Any, t: Any) -> Any:
        tile = t["x"]
        seen.update(
            get_pattern=tile.get_pattern(), is_contiguous=tile.is_contiguous(), is_indirect=tile.is_indirect(),
            strided=tile[:, 0:8:2].is_contiguous(), shape=tile.shape, ndim=tile.ndim, size=tile.size,
            strides=tile.strides, offset=tile[:, 2:].offset,
        )  # fmt: skip
        return tile

    run("new", body, {"x": X})
    for name in ("get_pattern", "is_contiguous", "is_indirect"):
        assert seen[name] == expected("new", name)
    assert seen["strided"] is False
    assert (seen["shape"], seen["ndim"], seen["size"]) == ((128, 8), 2, 1024)
    assert (seen["strides"], seen["offset"]) == ((8, 1), 2)


@pytest.mark.parametrize("name", OLD_VIEWS)
def test_old_view(name: str) -> None:
    out = run("old", lambda lib, t: lib.language.copy(OLD_VIEWS[name](t["x"])), {"x": X})
    np.testing.assert_array_equal(out, expected("old", name))


def test_every_method_is_tested() -> None:
    new = {n for g, n in ENTRIES if g == "new"}
    assert new - set(NEW_VIEWS) == {"get_pattern", "is_contiguous", "is_indirect", "indirect", "vector_select"}
    assert {n for g, n in ENTRIES if g == "old"} == set(OLD_VIEWS)


BAD_VIEWS = {
    "reshape": (lambda t: t.reshape((128, 9)), "reshape requires the same number of elements"),
    "partition": (lambda t: t.reshape((64, 16)), "reshape cannot change the partition dimension"),
    "strided": (lambda t: t[:, 0:8:2].reshape((128, 2, 2)).flatten_dims(1, 2), None),
    "permuted": (lambda t: t.reshape((128, 2, 4)).permute((0, 2, 1)).reshape((128, 8)), "not possible without a copy"),
    "permute": (lambda t: t.permute((1, 0)), "permute cannot move the partition dimension"),
    "broadcast": (lambda t: t.broadcast(1, 3), "broadcast dim 1 must have size 1, got 8"),
    "slice": (lambda t: t.slice(1, 4, 12), r"index range \[4, 11\] exceed dimension size of 8"),
    "select": (lambda t: t.select(1, 8), r"index range \[8, 8\] exceed dimension size of 8"),
    "ap reach": (lambda t: t.ap(pattern=[[8, 128], [1, 9]]), "ap\\(\\) reaches"),
    "ap step": (lambda t: t.ap(pattern=[[4, 64], [1, 4]]), "invalid partition stride. Partition step 4 must equal"),
    "ap dims": (lambda t: t.ap(pattern=[[8, 128]] + [[1, 1]] * 5), "1 to 5 .* pairs, got 6"),
    "view": (lambda t: t.view("float64"), "not an NKI data type"),
}


@pytest.mark.parametrize("name", BAD_VIEWS)
def test_bad_view(name: str) -> None:
    view, message = BAD_VIEWS[name]
    if message is None:
        run("new", lambda lib, t: lib.language.copy(view(t["x"])), {"x": X})
        return
    with pytest.raises(NkiError, match=message):
        run("new", lambda lib, t: lib.language.copy(view(t["x"])), {"x": X})
