"""The language of a text without a name, and what is said of an answer that is no code."""

from __future__ import annotations

import warnings

import pytest
from kengine.tasks import examine, pair, parse, parse_task
from kengine.tasks.language import guess_language, name_file, read_suffix

TASK = parse_task("def reference(x):\n    return x\ndef make_inputs(seed, device):\n    return (x,)\n")
KERNEL = "__global__ void scale(float* x) { x[threadIdx.x] *= 2; }\n"
PYTHON = f"import cupy\nK = cupy.RawKernel(r'''{KERNEL}''', 'scale')\ndef candidate(x):\n    return x\n"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "python"),
        ("def candidate(x):\n    return x\n", "python"),
        ("def candidate(x:\n    return x\n", "python"),
        (PYTHON, "python"),
        (PYTHON + "def broken(:\n", "python"),
        ("# includes <math> by hand\nx = (\n", "python"),
        ("@triton.jit\ndef k(x:\n    '''__global__'''\n", "python"),
        (KERNEL, "cuda"),
        ("#include <cuda_fp16.h>\n", "cuda"),
        ("// /// kengine\n// block = 32\n// ///\n" + KERNEL, "cuda"),
        ("/* import torch\nimport torch\n*/\n" + KERNEL, "cuda"),
        ("struct A {};\nclass B : public A {\n};\n" + KERNEL, "cuda"),
        ("#include <hip/hip_runtime.h>\n" + KERNEL, "hip"),
        (KERNEL + "void run(float* x) { hipLaunchKernelGGL(scale, 1, 32, 0, 0, x); }\n", "hip"),
        ("int main(", "python"),
    ],
)
def test_the_text_tells_the_language(text: str, language: str) -> None:
    assert guess_language(text) == language
    assert read_suffix(name_file(text)) == language


def test_a_candidate_without_a_name_is_called_by_its_language() -> None:
    for text, name, entry in ((KERNEL, "candidate.cu", "scale"), (PYTHON, "candidate.py", "candidate")):
        for item in (pair(text, TASK), parse(text, "", TASK.source)):
            assert (item.candidate.main.path, item.candidate.entry, item.key) == (name, entry, name)
            assert examine(item.candidate, item.task) is None
    assert pair(KERNEL, TASK, "k.hip").candidate.language == "hip"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (f"Here it is:\n```python\n{PYTHON}```\n", "extract(text) takes the code out"),
        (f"```cuda\n{KERNEL}```\n", "extract(text) takes the code out"),
        (f"```cuda\n{KERNEL}", "never ends: the answer was cut off"),
        (f"```python\n{PYTHON}", "never ends: the answer was cut off"),
    ],
)
def test_an_answer_that_is_no_code_says_so(text: str, problem: str) -> None:
    with pytest.warns(UserWarning, match="this is Markdown"):
        item = pair(text, TASK)
    fault = examine(item.candidate, item.task)
    assert fault is not None and fault.status == "compile_failed" and problem in fault.message


@pytest.mark.parametrize(
    "text",
    [
        PYTHON + '"""Use:\n```\ncandidate(x)\n```\n"""\n',
        "/*\n```\nscale<<<1, 32>>>(x);\n```\n*/\n" + KERNEL,
        "// ```\n" + KERNEL,
    ],
)
def test_fences_within_code_are_none(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        item = pair(text, TASK)
    assert examine(item.candidate, item.task) is None
