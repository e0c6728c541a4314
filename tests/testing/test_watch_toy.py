"""Kernels of the toy in a followed call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kengine.array import Array
from kengine.model import Candidate, CaseView, Mode, SourceFile, Target, TaskView, TensorSpec
from kengine.plugins.backend import attach
from kengine.plugins.hooks import Inputs
from kengine.runner import watch
from watch_support import Seen, followed

np = pytest.importorskip("numpy")

from kengine.provenance import numeric  # noqa: E402, F401

HEAD = """
import numpy as np
from kengine.testing import toy

@toy.kernel
def add(program, x, y, out):
    rows = slice(program * 64, min(program * 64 + 64, len(out)))
    out[rows] = np.add(x[rows], y[rows])

@toy.kernel
def unused(program, x):
    x[program] = 0

def candidate(x, y):
    out = np.empty_like(x)
"""
ADD = HEAD + """    add[-(-len(out) // 64)](x, y, out)
    return out
"""
X, Y = np.arange(1, 101, dtype=np.float32), np.ones(100, np.float32)


def look(text: str, workdir: Path) -> tuple[Seen, Any]:
    watch.prepare()
    backend = attach("toy", "kengine.testing.toy.plugin")
    candidate = Candidate((SourceFile("k.py", text),), "candidate")
    artifact = backend.compile(candidate, TaskView("function", "candidate"), Target("toy", "cpu"), [], workdir)
    spec = TensorSpec("float32", (100,))
    inputs = Inputs(tuple(Array(spec, memoryview(bytearray(a.tobytes()))) for a in (X, Y)))
    case = CaseView(0, (spec,))
    return followed(inputs, lambda: backend.launch(artifact, case, inputs, Mode.traced)), artifact


def test_numpy_inside_a_kernel_is_the_kernels_work(tmp_path: Path) -> None:
    seen, artifact = look(ADD, tmp_path)
    np.testing.assert_array_equal(seen.value, X + Y)
    assert seen.kernels == {"add": 1} and seen.operators == {} and seen.origins == [(True, True, False)]
    assert artifact.details == {"defined": ("add", "unused")}


@pytest.mark.parametrize(
    "body, kernels, operators",
    [
        ("    add[2](x, y, out)\n    return out * y\n", {"add": 1}, {"numpy::multiply": 1}),
        ("    add[2](x * y, y, out)\n    return out\n", {"add": 1}, {"numpy::multiply": 1}),
        ("    add[2](x, y, out)\n    return np.add(x, y)\n", {"add": 1}, {"numpy::add": 1}),
        ("    return x + y\n", {}, {"numpy::add": 1}),
    ],
)
def test_numpy_around_a_kernel_is_not(
    tmp_path: Path, body: str, kernels: dict[str, int], operators: dict[str, int]
) -> None:
    seen, _ = look(HEAD + body, tmp_path)
    np.testing.assert_array_equal(seen.value, X + Y)
    assert seen.kernels == kernels and seen.operators == operators
