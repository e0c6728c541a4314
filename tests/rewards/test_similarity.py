"""The distance of two sources."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kengine.errors import UsageError
from kengine.rewards import amd, dtw_distance, similarity

HIP = "__global__ void add(float* x) { int i = threadIdx.x; x[i] = x[i] + 1.0f; }"


def plain(a: list[str], b: list[str]) -> float:
    """Dynamic time warping as it is written down."""
    infinity = float("inf")
    table = [[infinity] * (len(b) + 1) for _ in range(len(a) + 1)]
    table[0][0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            least = min(table[i - 1][j], table[i][j - 1], table[i - 1][j - 1])
            table[i][j] = (a[i - 1] != b[j - 1]) + least
    return table[-1][-1] / max(len(a), len(b))


WORDS = st.lists(st.sampled_from("abc"), min_size=1, max_size=12)


@given(WORDS, WORDS)
@settings(max_examples=300)
def test_it_is_dynamic_time_warping(a, b) -> None:
    found = dtw_distance(" ".join(a), " ".join(b))
    assert found == pytest.approx(plain(a, b)) and 0 <= found <= 1
    assert found == dtw_distance(" ".join(b), " ".join(a))


def test_comments_and_layout_are_no_difference() -> None:
    assert dtw_distance(HIP, HIP.replace("; ", ";\n  // next\n  ")) == 0.0
    assert dtw_distance("x = 1 # one\n", "x = 1", language="python") == 0.0


def test_floor_division_is_no_comment_in_python() -> None:
    assert similarity.tokens("a // b", "python") == ["a", "/", "/", "b"]
    assert similarity.tokens("a // b", "hip") == ["a"]
    assert similarity.tokens('f("// no comment") /* one */', "hip") == ["f", "(", '"// no comment"', ")"]


def test_one_changed_name_is_a_copy_and_another_kernel_is_not() -> None:
    other = "__global__ void scale(float* y, int n) { for (int k = 0; k < n; k += 64) { y[k] *= 2; } __syncthreads(); }"
    assert dtw_distance(HIP.replace("1.0f", "2.0f"), HIP) < amd.COPY
    assert dtw_distance(other, HIP) > amd.HIGH
    assert amd.novelty(0.05) == 0.0 and amd.novelty(0.15) == pytest.approx(0.5) and amd.novelty(0.9) == 1.0


def test_nothing_and_too_much() -> None:
    assert dtw_distance("", "") == 0.0 and dtw_distance("// only\n", "x") == 1.0
    with pytest.raises(UsageError, match="original: 20001 tokens"):
        dtw_distance("x", "x " * 20_001)
