# ruff: noqa: E501  (device sources)
"""The textual part: finding kernels, blanking text, rewriting declarations and launches."""

from __future__ import annotations

import time

import pytest
from kengine.simt.kernels import find_kernels, parameter_name
from kengine.simt.lexer import blank, closing, line_of, split_commas
from kengine.simt.rewrite import has_return_in_macro, has_volatile_code, rewrite


def test_blank_keeps_offsets() -> None:
    source = 'a /* b\nc */ "d\\"e" // f\n\'g\' 1\'000 R"x(h"i)x" j'
    text = blank(source)
    assert len(text) == len(source) and text.count("\n") == source.count("\n")
    assert not set("bcdefghi") & set(text.replace("R", "")) and "1'000" in text and text.endswith("j")


def test_brackets_and_commas() -> None:
    assert closing("f(a(b)c)d", 1) == 7 and closing("<a<b>, (c > d)>", 0) == 14 and closing("(", 0) == -1
    assert split_commas("A<int, 3> a, b[f(1, 2)], c") == ["A<int, 3> a", " b[f(1, 2)]", " c"]
    assert line_of("a\nb\nc", 4) == 3


def test_find_kernels() -> None:
    source = """
    __global__ void declared(int* x);
    extern "C" __global__ void __launch_bounds__(256, 2) plain(const float* __restrict__ x, float (*m)[4], int n = 3) { if (n) { x; } }
    template <typename T, int N = 4> static __global__ void generic(T* x, cuda_thing<T, N> y) {}
    __global__ __launch_bounds__(64) void none() {}
    template <> __global__ void generic<int>(int* x) {}
    """
    found = find_kernels(blank(source))
    assert [(k.name, k.is_template, k.parameters, k.line) for k in found] == [
        ("plain", False, ("x", "m", "n"), 3), ("generic", True, ("x", "y"), 4), ("none", False, (), 5), ("generic", True, ("x",), 6),
    ]  # fmt: skip


def test_kernels_made_by_macros() -> None:
    out = rewrite(
        "#define K(n) __global__ void n##_kernel(int* x) { return; } \\\n  void n() { n##_kernel<<<1, 2>>>(0); }\n"
    )
    assert "SIMT_KERNEL_HERE(n##_kernel)" in out and "SIMT_LAUNCH((n##_kernel), 1, 2)(0)" in out


@pytest.mark.parametrize(
    "text,name",
    [
        ("const float* x", "x"),
        ("float*", ""),
        ("unsigned int n", "n"),
        ("int", ""),
        ("T x[]", "x"),
        ("const __grid_constant__ P p", "p"),
        ("float* __restrict__ y", "y"),
    ],
)
def test_parameter_names(text: str, name: str) -> None:
    assert parameter_name(text) == name


def test_shared_declarations() -> None:
    out = rewrite(
        "__global__ void k() {\n  static __shared__ __align__(16) float a[4][5], *p, b;\n  extern __shared__ char raw[];\n  return;\n}\n"
    )
    assert (
        "typedef __attribute__((aligned(16))) float simt_type_a [4][5];" in out
        and "SharedVariable<simt_type_p, simt_tag_p>" in out
    )
    assert "simt_type_raw* const raw" in out and "SIMT_RETURN;" in out and "__shared__" not in out
    assert out.count("\n") == 5 and "SIMT_KERNEL_HERE(k)" in out.split("\n")[4]


def test_launches() -> None:
    out = rewrite(
        "template <class T> __global__ void t(T x) {}\n__global__ void k(int) {}\nvoid f() { ns::t<A<int>><<<dim3(1, 2), (n + 1) >> 2>>>(3); k<<<g, b, s, st>>>(4); (*p)<<<1, 1>>>(5); }"
    )
    assert "SIMT_LAUNCH_TEMPLATE((ns::t<A<int>>), dim3(1, 2), (n + 1) >> 2)(3)" in out
    assert "SIMT_LAUNCH((k), g, b, s, st)(4)" in out and "SIMT_LAUNCH(((*p)), 1, 1)(5)" in out


def test_volatile_and_returns_in_macros() -> None:
    assert has_volatile_code("volatile float* p;") and not has_volatile_code('asm volatile("nop"); // volatile int x')
    assert has_return_in_macro("#define GUARD \\\n  if (i >= n) return;\n") and not has_return_in_macro(
        "void f() { return; }\n#define A 1"
    )


def test_long_comments_take_no_time() -> None:
    source = (
        "__noinline__ int f();\n" + "// a remark of no importance\n" * 20_000 + "__device__  __noinline__ int g();\n"
    )
    begun = time.process_time()
    made = rewrite(source)
    assert time.process_time() - begun < 5
    assert made.count("__attribute__((noinline))") == 2 and made.count("\n") == source.count("\n")
    assert rewrite("#define KEEP(__noinline__) x") == "#define KEEP(__noinline__) x"
