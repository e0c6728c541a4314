"""Two answers of one candidate, with wavefronts of two widths."""

from __future__ import annotations

import numpy as np
import pytest
from kengine.model import Candidate, SourceFile
from kengine_hip.width import difference, is_sensitive


def test_answers_that_agree() -> None:
    a = np.array([1.0, np.nan, np.inf, 1000.0], np.float32)
    assert difference(a, a.copy()) == ""
    assert difference(a, a + np.array([1e-2, 0, 0, 0], np.float32)) == ""
    assert difference((a, [a]), (a, [a])) == ""


@pytest.mark.parametrize(
    ("a", "b", "part"),
    [
        (np.zeros(3), np.array([0, 1, 0.0]), "output 0: 1 of 3 elements"),
        (np.ones(3), np.array([1, np.nan, 1.0]), "output 0: 1 of 3 elements"),
        (np.zeros(3), np.zeros(4), "shape [3] and [4]"),
        ((np.zeros(3), np.zeros(3)), np.zeros(3), "2 arrays and 1"),
    ],
)
def test_answers_that_do_not(a, b, part) -> None:
    assert part in difference(a, b)


@pytest.mark.parametrize(
    ("text", "sensitive"),
    [("y[i] = __shfl(v, 0);", True), ("int lane = threadIdx.x & 31;", True), ("y[i] = x[i] + 1;", False)],
)
def test_what_may_depend_on_the_width(text, sensitive) -> None:
    assert is_sensitive(Candidate((SourceFile("k.hip", text),), "k", "hip")) is sensitive
