"""Vectors of any length, as HIP's compiler has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from kengine.simt import Fault, Program, Unsupported, find_unsupported  # noqa: E402
from kengine.simt.vectors import find_edits  # noqa: E402

DECLARATIONS = [
    "typedef float v4 __attribute__((ext_vector_type(4)));",
    "typedef float __attribute__((ext_vector_type(4))) v4;",
    "typedef __attribute__((__ext_vector_type__(4))) float v4;",
    "using v4 = __attribute__((ext_vector_type(4))) float;",
    "using v4 = float __attribute__((ext_vector_type(2 * 2)));",
]
BODY = """
extern "C" __global__ void k(const float* x, float* y, int n) {
  const v4* in = reinterpret_cast<const v4*>(x);
  v4* out = reinterpret_cast<v4*>(y);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n / 4; i += gridDim.x * blockDim.x) {
    v4 a = in[i], b = {1.0f, 2.0f, 3.0f, 4.0f};
    v4 c = a * b + 0.5f;
    c -= 2.0f * a;
    c[0] = -c.x;
    c.w = a.z;
    out[i] = c;
  }
}
"""


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_a_vector_by_any_declaration(compile_source: Callable[..., Program], declaration: str) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    program = compile_source(declaration + BODY, check=True, dialect="hip", lanes=64, filename="k.hip")
    program.launch("k", 2, 4, (x, y, 64))
    rows = x.reshape(16, 4)
    want = rows * np.array([1, 2, 3, 4], np.float32) + np.float32(0.5) - 2 * rows
    want[:, 0] *= -1
    want[:, 3] = rows[:, 2]
    np.testing.assert_array_equal(y.reshape(16, 4), want)


def test_lengths_types_and_comparisons(compile_source: Callable[..., Program], check: bool) -> None:
    source = """
typedef short s8 __attribute__((ext_vector_type(8)));
typedef unsigned int u2 __attribute__((ext_vector_type(2)));
using d3 = double __attribute__((ext_vector_type(3)));
extern "C" __global__ void k(int* out) {
  s8 a = {1, 2, 3, 4, 5, 6, 7, 8};
  s8 b = a << 1;
  u2 c = {6u, 3u};
  c ^= 1u;
  c = ~c & 15u;
  d3 d = 2.0;
  d /= d3(1.0, 2.0, 4.0);
  auto less = d < 1.5;
  int at = 0;
  for (int i = 0; i < 8; i++) out[at++] = b[i];
  out[at++] = c.x; out[at++] = c.y;
  out[at++] = int(d.x * 100); out[at++] = int(d.y * 100); out[at++] = int(d.z * 100);
  out[at++] = less[0]; out[at++] = less[1]; out[at++] = less[2];
  out[at++] = sizeof(s8); out[at++] = sizeof(d3); out[at++] = alignof(u2); out[at++] = sizeof(s8) == alignof(s8);
}
"""
    out = np.zeros(20, np.int32)
    compile_source(source, check=check).launch("k", 1, 1, (out,))
    assert out.tolist() == [2, 4, 6, 8, 10, 12, 14, 16, 8, 13, 200, 100, 50, 0, -1, -1, 16, 32, 8, 1]


def test_its_memory_is_checked(fault_of: Callable[..., Fault]) -> None:
    x, y = np.zeros(64, np.float32), np.zeros(60, np.float32)
    fault = fault_of(DECLARATIONS[0] + BODY, 1, 16, (x, y, 64))
    assert (fault.kind.value, fault.argument) == ("out_of_bounds_write", "y")


@pytest.mark.parametrize(
    "source, line",
    [
        ("__global__ void k() {}\nstruct s { float v __attribute__((ext_vector_type(4))); };\n", 2),
        ("// __attribute__((ext_vector_type(4)))\n__global__ void k() {}\n", 0),
        (DECLARATIONS[0], 0),
    ],
)
def test_what_is_no_declaration_of_a_type_is_unsupported(source: str, line: int) -> None:
    found = [at for what, at in find_unsupported(source) if "vector" in what]
    assert found == ([line] if line else [])


def test_it_is_said_when_built(compile_source: Callable[..., Any]) -> None:
    with pytest.raises(Unsupported, match="no typedef names"):
        compile_source("__global__ void k() { float v __attribute__((ext_vector_type(4))); }\n")


def test_lines_stay_where_they_are() -> None:
    text = "typedef unsigned short\n  us __attribute__((ext_vector_type(8)));"
    ((start, end, new),) = find_edits(text)
    assert (start, end, new) == (0, len(text), "using us = ::simt::ext_vector<unsigned short, 8>;")
