"""What counts as the same code: not names, comments, layout and literals; what does not parse is read all the same."""

from __future__ import annotations

import os
import re
import time

import pytest
from kernels_text import BLOCKED, CUDA, MULTI_ROW, ONE_ROW

pytest.importorskip("tree_sitter_cuda", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")
pytest.importorskip("tree_sitter_python", reason="needs tree_sitter: pip install 'kernel-engine[curate]'")

from kengine.curate.code.sketch import digest
from kengine.curate.code.tokens import LARGEST, tokenise


def same(one: str, other: str, path: str = "a.py") -> bool:
    return digest(tokenise([(path, one)])) == digest(tokenise([(path, other)]))


def rename(code: str, **names: str) -> str:
    for old, new in names.items():
        code = re.sub(rf"(?<![.\w]){old}\b(?!=)", new, code)
    return code


@pytest.mark.parametrize(
    "other",
    [
        ONE_ROW.replace("    row =", "    # which row\n    row ="),
        ONE_ROW.replace('    """One program takes one row."""\n', ""),
        ONE_ROW.replace("1024", "256").replace("1e-6", "1e-5"),
        ONE_ROW.replace(", mask=mask, other=0.0)", ",\n        mask=mask,\n        other=0.0,\n    )"),
        ONE_ROW.replace("import torch\n", "import math\nimport torch\nfrom torch import nn\n"),
        ONE_ROW.replace("triton.language as tl", "triton.language as lang").replace("tl.", "lang."),
        ONE_ROW.replace("import triton.language as tl", "from triton import language as tl"),
        rename(ONE_ROW, row="pid", cols="lanes", v="value", rms="scale", g="gain", N="width"),
        ONE_ROW.replace("kernel", "rms_kernel").replace("BLOCK_N", "TILE"),
        re.sub(r"\bx\b", "inputs", ONE_ROW[: ONE_ROW.index("def candidate")])
        + ONE_ROW[ONE_ROW.index("def candidate") :],
    ],
    ids=["comment", "docstring", "literals", "layout", "imports", "alias", "from", "locals", "kernel", "one-scope"],
)
def test_what_people_change_when_they_copy_does_not_count(other) -> None:
    assert other != ONE_ROW and same(ONE_ROW, other)


@pytest.mark.parametrize(
    "other",
    [
        BLOCKED,
        MULTI_ROW,
        ONE_ROW.replace("tl.sum", "tl.max"),
        ONE_ROW.replace("v * rms", "v + rms"),
        ONE_ROW.replace("axis=0", "axis=1"),
        ONE_ROW.replace("program_id(0)", "program_id(1)"),
        ONE_ROW.replace("tl.float16", "tl.bfloat16"),
        ONE_ROW.replace("(v * rms * g)", "(v * rms * v)"),
        ONE_ROW.replace("x.shape[1]", "x.shape[0]"),
        ONE_ROW.replace("    return y", "        return y").replace(
            "    kernel[", "    if x.shape[0]:\n        kernel["
        ),
    ],
    ids=["blocked", "multi-row", "max", "plus", "axis", "program", "dtype", "dataflow", "argument", "block"],
)
def test_what_is_computed_counts(other) -> None:
    assert other != ONE_ROW and not same(ONE_ROW, other)


@pytest.mark.parametrize(
    ("other", "equal"),
    [
        (CUDA.replace("// one block a row\n", "/* a block\n takes a row */\n"), True),
        (CUDA.replace("256", "512"), True),
        (CUDA.replace("#include <cuda_runtime.h>\n", ""), True),
        (re.sub(r"\bpart\b", "shared_sums", re.sub(r"\brms\b", "normalise", CUDA)), True),
        (re.sub(r"\bx\b(?<!\.x)", "src", CUDA), True),
        (CUDA.replace("\n    ", " "), True),
        (CUDA.replace("    __syncthreads();\n", "", 1), False),
        (CUDA.replace("rsqrtf", "sqrtf"), False),
        (CUDA.replace("i += blockDim.x", "i += gridDim.x"), False),
        (CUDA.replace("float* y", "double* y"), False),
    ],
    ids=["comment", "size", "include", "names", "parameter", "layout", "barrier", "function", "stride", "type"],
)
@pytest.mark.parametrize("path", ["k.cu", "k.hip"])
def test_cuda_and_hip(other, equal, path) -> None:
    assert other != CUDA and same(CUDA, other, path) is equal


def test_cuda_is_known_whatever_its_file_is_called() -> None:
    assert digest(tokenise([("candidate.py", CUDA)])) == digest(tokenise([("candidate.cu", CUDA)]))
    assert not same(CUDA, ONE_ROW, "candidate.py")


def test_cuda_within_a_python_string_is_read_as_cuda() -> None:
    text = f"SOURCE = r'''\n{CUDA}'''\nmodule = load(SOURCE, functions=['rms'])\n"
    other = text.replace("rms", "normalise").replace("sum", "total").replace("// one block a row", "// !")
    assert same(text, other)
    assert not same(text, text.replace("sum +=", "sum -="))
    assert not same("y = torch.einsum('ij,jk->ik', a, b)", "y = torch.einsum('ij,kj->ik', a, b)")
    assert same("raise ValueError('must be even')", "raise ValueError('has to be even!')")


def test_zero_and_one_count_and_other_numbers_do_not() -> None:
    assert same("y = x.stride(2)", "y = x.stride(3)") and same("y = x * 0.5", "y = x * 2e3")
    assert not same("y = x.stride(0)", "y = x.stride(1)")
    assert same("y = x + 1.0", "y = x + 1") and same("float y = 0.f;", "float y = 0;", "a.cu")
    tokens = [tokenise([("t.py", text)], literals=True) for text in ("y = x * 2", "z = x * 2 # !", "y = x * 3")]
    assert digest(tokens[0]) == digest(tokens[1]) != digest(tokens[2])


def test_the_vocabulary_holds_words_and_operators_that_are_not_the_files_own() -> None:
    def vocabulary(text: str) -> int:
        return tokenise([("a.py", text)]).vocabulary

    base = vocabulary(ONE_ROW)
    assert vocabulary(rename(ONE_ROW, row="pid", v="value")) == base
    assert vocabulary(ONE_ROW.replace("BLOCK_N=1024", "BLOCK_N=64, num_warps=2")) == base
    assert vocabulary(ONE_ROW.replace("tl.sum", "tl.max")) != base
    assert vocabulary(ONE_ROW.replace("v * rms", "v - rms")) != base


def test_code_that_does_not_parse_is_read_token_by_token() -> None:
    broken = ONE_ROW.replace("def candidate(x, w):", "def candidate(x, w)")
    assert not same(broken, ONE_ROW)
    assert same(broken, broken.replace("row =", "# !\n    row =").replace("1024", "64"))
    assert same(broken, re.sub(r"\bcols\b", "lanes", broken))
    assert not same(broken, broken.replace("tl.sum", "tl.max"))
    cut = CUDA[:-120]
    assert same(cut, cut.replace("256", "128").replace("sum", "acc"), "a.cu")
    assert not same(cut, cut.replace("threadIdx", "blockIdx"), "a.cu")
    assert same("one = 1; two(one) // c", "uno = 1; two(uno)", "notes.txt")


@pytest.mark.parametrize("path", ["a.py", "a.cu", "a.unknown"])
@pytest.mark.parametrize(
    "text",
    ["", " \n\t\n", "(" * 200_000, "([{" * 60_000, "def " * 50_000, "if x:\n " * 3000, "a<" * 50_000, "/*" * 50_000,
     "'" * 100_000, "x = '\ud800'\n", "# é 日本語\nνδ = 1\n", "\0\1\2" * 1000, "\ufeffx = 1\r\n", "\u202e = 1"],
    ids=range(14),
)  # fmt: skip
def test_any_text_is_taken(path, text) -> None:
    begun = time.process_time()
    tokens = tokenise([(path, text)])
    assert time.process_time() - begun < 20
    assert len(tokens.kept) == len(tokens.names) and (tokens.starts < max(len(tokens.kept), 1)).all()
    assert digest(tokens) == digest(tokenise([(path, text)]))


def test_a_text_that_is_too_large_or_binary_is_equal_or_is_not() -> None:
    large = "x = 1\n" * (LARGEST // 6 + 1)
    assert same(large, large.replace("\n", "\n\n")) and not same(large, large.replace("x", "y"))
    assert len(tokenise([("a.py", large)]).kept) == 1
    assert not same("\0a = 1", "\0b = 1") and not same("\0a = 1", "a = 1")


def test_fifty_megabytes_take_little_time_and_memory() -> None:
    import resource

    text = "y = x + 12345678\n" * 3_000_000
    before, begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    assert len(tokenise([("a.py", text)]).kept) == 1
    assert time.process_time() - begun < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024


def test_random_bytes() -> None:
    for path in ("a.py", "a.cu"):
        one, other = (os.urandom(30_000).decode("latin-1").replace("\0", "") for _ in range(2))
        assert same(one, one, path) and not same(one, other, path)


def test_files_share_their_names() -> None:
    one = [("a.py", "def scale(x):\n    return x\n"), ("b.py", "y = scale(3)\n")]
    other = [("a.py", "def resize(x):\n    return x\n"), ("b.py", "y = resize(3)\n")]
    mixed = [("a.py", "def resize(x):\n    return x\n"), ("b.py", "y = scale(3)\n")]
    digests = [digest(tokenise(files)) for files in (one, other, mixed)]
    assert digests[0] == digests[1] != digests[2]
