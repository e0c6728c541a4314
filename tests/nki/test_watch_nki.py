"""Kernels of NKI in a followed call, on the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kengine.array import Array
from kengine.errors import CandidateFault
from kengine.model import Candidate, Mode, SourceFile, Target, TaskView, TensorSpec
from kengine.plugins.hooks import Inputs
from kengine.provenance import numeric  # noqa: F401
from kengine.runner import watch
from kengine_nki import plugin
from kengine_nki.launch import launch_candidate
from nki_tasks import NEW, OLD
from watch_support import Seen, followed

COPY = NEW + """
import numpy as np

@nki.jit
def copy(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    nisa.dma_copy(dst=out, src=tile)
    return out
"""
IN_PLACE = OLD + """
@nki.jit(mode="simulation")
def double(x, out):
    i, j = nl.mgrid[0:8, 0:8]
    nl.store(out[i, j], nl.load(x[i, j]) * 2.0)

def candidate(x, w):
    out = np.empty_like(x)
    double(x, out)
    return out
"""
X, W = np.random.default_rng(1).random((2, 8, 8), dtype=np.float32)


@pytest.fixture
def look(tmp_path: Path) -> Callable[[str], Seen]:
    watch.prepare()

    def run(text: str) -> Seen:
        candidate = Candidate((SourceFile("k.py", text),), "candidate")
        arrays = tuple(Array(TensorSpec("float32", a.shape), memoryview(bytearray(a.tobytes()))) for a in (X, W))
        target, inputs = Target("nki", "sim"), Inputs(arrays)
        artifact = plugin.kengine_compile(candidate, TaskView("function", "candidate"), target, [], tmp_path)
        return followed(inputs, lambda: launch_candidate(artifact, inputs, Mode.traced))

    return run


def test_what_a_kernel_returns_comes_from_it(look: Callable[[str], Seen]) -> None:
    seen = look(COPY + "def candidate(x, w):\n    return copy(x)\n")
    np.testing.assert_array_equal(seen.value, X)
    assert seen.kernels == {"copy": 1} and seen.operators == {} and seen.origins == [(True, True, False)]
    assert seen.facts.outputs[0].writer == "copy"


@pytest.mark.parametrize(
    "body, expected, operators",
    [
        ("copy(x @ w)", X @ W, {"numpy::matmul": 1}),
        ("copy(x) @ w", X @ W, {"numpy::matmul": 1}),
        ("copy(np.exp(x).sum(axis=1, keepdims=True) + x)", np.exp(X).sum(1, keepdims=True) + X,
         {"numpy::exp": 1, "numpy::add.reduce": 1, "numpy::add": 1}),
        ("copy(np.ascontiguousarray(x.T))", X.T, {}),
    ],
)  # fmt: skip
def test_numpy_around_a_kernel_is_seen(
    look: Callable[[str], Seen], body: str, expected: Any, operators: dict[str, int]
) -> None:
    seen = look(COPY + f"def candidate(x, w):\n    return {body}\n")
    np.testing.assert_allclose(seen.value, expected, rtol=1e-5)
    assert seen.kernels == {"copy": 1} and seen.operators == operators
    assert seen.origins[0][:2] == (True, True)


def test_an_output_that_a_kernel_is_given(look: Callable[[str], Seen]) -> None:
    seen = look(IN_PLACE)
    np.testing.assert_array_equal(seen.value, 2 * X)
    assert seen.kernels == {"double": 1} and seen.origins == [(True, True, False)]


def test_an_artifact_says_which_kernels_there_are(tmp_path: Path) -> None:
    text = COPY + """
@nki.jit
def helper(x):
    return x

@nki.jit
def unused(x):
    return helper(x)

def candidate(x, w):
    return copy(x)
"""
    candidate = Candidate((SourceFile("k.py", text),), "candidate")
    view = TaskView("function", "candidate")
    artifact = plugin.kengine_compile(candidate, view, Target("nki", "sim"), [], tmp_path)
    assert artifact.details["defined"] == ("copy", "unused")
    assert artifact.details["libraries"] == ()


REACHES = NEW + """
import copy, operator
import numpy as np

def reach(tensor):
    WAY

@nki.jit
def candidate(x, w):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    tile = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
    nisa.dma_copy(dst=tile, src=x)
    try:
        reach(tile)
    except ValueError:
        pass
    nisa.dma_copy(dst=out, src=tile)
    return out
"""


@pytest.mark.parametrize(
    "way",
    [
        "np.frombuffer(tensor.storage.bytes, np.float32)",
        "tensor.array()[...] = 1.0",
        "operator.attrgetter('sto' + 'rage')(tensor)",
        "getattr(tensor, '_ar' + 'ray'); raise ValueError",
        "type(tensor).array(tensor)",
        "exec('tensor.storage', {'tensor': tensor})",
    ],
)
def test_memory_behind_a_tensor_is_not_the_candidates(look: Callable[[str], Seen], way: str) -> None:
    with pytest.raises(CandidateFault, match="only the interpreter has") as fault:
        look(REACHES.replace("WAY", way))
    assert fault.value.status == "tampered"
    from kengine_nki.sim.tensor import NkiTensor

    assert not isinstance(vars(NkiTensor)["storage"], property)


@pytest.mark.parametrize("way", ["copy.copy(tensor)", "repr(tensor), tensor.shape, len(tensor)", "pass"])
def test_what_a_kernel_may_do_with_a_tensor(look: Callable[[str], Seen], way: str) -> None:
    assert look(REACHES.replace("WAY", way)).facts.outputs[0].kernels
