"""Forms, signatures and lines, read off the text."""

from __future__ import annotations

import pytest
from kengine.errors import CandidateFault
from kengine.model import Candidate, SourceFile
from kengine.native.forms import Form, find_form
from kengine.native.lines import locate
from kengine.native.options import host_options
from kengine.native.signature import find_parameters, is_extern_c

KERNEL = "__global__ void k(float* x) { }\n"


def candidate(text: str, name: str = "c.py", entry: str = "candidate", **options) -> Candidate:
    language = "cuda" if name.endswith(".cu") else "python"
    return Candidate((SourceFile(name, text),), entry, language, options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "form"),
    [
        (candidate("import cupy as cp\n"), Form.cupy),
        (candidate("from cupy import RawKernel\n"), Form.cupy),
        (candidate("from torch.utils.cpp_extension import load_inline\n"), Form.inline),
        (candidate("import torch\nm = torch.utils.cpp_extension.load('a', ['a.cu'])\n"), Form.inline),
        (candidate("# import cupy\ntext = 'load_inline'\n"), Form.python),
        (candidate(KERNEL, "c.cu", "k", grid="1", block="1"), Form.block),
        (candidate(KERNEL + "void run(float* x) { k<<<1, 1>>>(x); }", "c.cu", "run"), Form.host),
    ],
)
def test_forms(given: Candidate, form: Form) -> None:
    assert find_form(given) is form
    assert form.is_native is (given.language == "cuda")


def test_a_bare_file_without_a_launch_says_what_is_missing() -> None:
    with pytest.raises(CandidateFault, match="nothing says how 'k' is launched"):
        find_form(candidate(KERNEL, "c.cu", "k"))
    with pytest.raises(CandidateFault, match="does not define 'run'; kernels in the file: k"):
        find_form(candidate(KERNEL, "c.cu", "run"))


def test_parameters() -> None:
    source = """
    __global__ void f(int n);  // a declaration
    template <typename T, int N>
    __global__ void __launch_bounds__(256) f(const T* __restrict__ x, float const* y, T (*rows)[N], float eps,
                                             const int n, unsigned long long, int sizes[4]) { f(1); }
    """
    found = find_parameters(source, "ns::f<float, 4>")
    assert [(p.name, p.is_pointer, p.is_const) for p in found] == [
        ("x", True, True), ("y", True, True), ("rows", True, False), ("eps", False, False), ("n", False, False),
        ("", False, False), ("sizes", True, False),
    ]  # fmt: skip
    assert find_parameters(source, "g") is None
    assert find_parameters("__global__ void g(void) {}", "g") == ()


def test_extern_c() -> None:
    assert is_extern_c('extern "C" __global__ void f(int n) { }', "f")
    assert is_extern_c('extern "C" {\n__global__ void f(int n) { }\n}', "f")
    assert not is_extern_c("__global__ void f(int n) { }", "f")
    assert not is_extern_c('extern "C" {\n__global__ void g(int n) { }\n}\n__global__ void f(int n) { }', "f")


def test_lines_of_a_literal_are_exact() -> None:
    source = "\nline two\nline three\n"
    text = f'import cupy\n\nSOURCE = r"""{source}"""\nK = 1\n'
    lines = locate(source, text)
    assert [lines.line(n) for n in (2, 3)] == [4, 5]
    assert [lines.line(n) for n in (0, 99, None)] == [0, 0, 0]
    assert locate(source.strip(), text).line(1) == 4, "also when newlines around it were stripped"


def test_lines_of_a_text_put_together_are_found_where_they_are_unique() -> None:
    text = 'N = 4\nSOURCE = f"""\nint a = {N};\n  b();\n  c();\nint z = a;\n  c();\n"""\n'
    lines = locate("\nint a = 4;\n  b();\n  c();\nint z = a;\n  c();\n", text)
    assert lines.line(3) == 4 and lines.line(5) == 6
    assert lines.line(2) == 0, "its text differs"
    assert lines.line(4) == 5 and lines.line(6) == 7, "told apart by what stands around them"


def test_a_bare_file_is_its_own_lines() -> None:
    assert locate(KERNEL, KERNEL).line(1) == 1


def test_options_for_the_host_compiler(tmp_path) -> None:
    given = ("-DN=4", "-D", "M=2", "--use_fast_math", "-std=c++20", "-arch=sm_80", "-I.", "-I/etc", "-O3", "-lcuda")
    place = str(tmp_path)
    assert host_options(given, tmp_path) == ("-DN=4", "-DM=2", "-std=c++20", f"-I{place}", f"-I{place}")
