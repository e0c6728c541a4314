"""Which text of an answer is the candidate."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine import UsageError
from kengine.tasks import extract
from kengine.tasks.completion import read_text, strip_thoughts
from kengine.tasks.markdown import read_blocks


def fenced(*blocks):
    return "text\n".join(f"```{tag}\n{code}\n```\n" for tag, code in blocks)


@pytest.mark.parametrize(
    ("completion", "code"),
    [
        (fenced(("python", "a = 1")), "a = 1\n"),
        (fenced(("python", "a = 1"), ("python", "b = 2")), "b = 2\n"),
        (fenced(("python", "a = 1"), ("bash", "python a.py")), "a = 1\n"),
        (fenced(("Python", "a = 1")), "a = 1\n"),
        (fenced(("python title=a.py", "a = 1")), "a = 1\n"),
        (fenced(("triton", "a = 1"), ("text", "output")), "a = 1\n"),
        (fenced(("", "a = 1"), ("json", "{}")), "a = 1\n"),
        (fenced(("rust", "fn f() {}")), "fn f() {}\n"),
        (fenced(("python", "a = 1")) + "```python\nb = 2", "a = 1\n"),
        ("~~~python\na = 1\n~~~\n", "a = 1\n"),
        ("````python\ns = '''\n```\nx\n```\n'''\n````\n", "s = '''\n```\nx\n```\n'''\n"),
        ("   ```python\na = 1\n  ```   \n", "a = 1\n"),
        ("```python\r\na = 1\r\n```\r\n", "a = 1\n"),
        ("```python\n```\n", ""),
        ("import torch\n", "import torch\n"),
        ("", ""),
        ("```inline``` text", "```inline``` text"),
        ("```python\nnever ends", "```python\nnever ends"),
        ("<think>\n```python\nno = 1\n```\n</think>\n```python\nyes = 1\n```", "yes = 1\n"),
        ("<think>\n```python\nno = 1\n```\n", ""),
        ("no opening\n```python\nno = 1\n```\n</think>done", "done"),
        ("<Thinking>\n```python\nno = 1\n```\n</Thinking>\n```python\nyes = 1\n```", "yes = 1\n"),
        ("<reasoning>\n```python\nno = 1\n```\n</reasoning>done", "done"),
        ("```python\nno = 1\n```\n<thought>\n```python\nno = 2\n```\n", ""),
        ("```python\na = 'one\x0cline\u2028'\n```\n", "a = 'one\x0cline\u2028'\n"),
    ],
)
def test_the_last_complete_block(completion, code):
    assert extract(completion) == code


KERNEL = "__global__ void k() {}"
HOST = f"import torch\nSOURCE = '''\n{KERNEL}\n'''\ndef candidate(x):\n    return x"


@pytest.mark.parametrize(
    ("blocks", "language", "code"),
    [
        ((("cuda", KERNEL), ("python", "a = 1")), "cuda", KERNEL),
        ((("cuda", KERNEL), ("python", "a = 1")), "hip", KERNEL),
        ((("cuda", KERNEL), ("python", "a = 1")), "python", "a = 1"),
        ((("cuda", KERNEL), ("python", "a = 1")), "", KERNEL),  # a line of use defines nothing
        ((("cuda", KERNEL), ("python", HOST)), "", HOST),
        ((("python", HOST), ("cuda", KERNEL)), "", HOST),  # the kernel once more, to be read
        ((("python", HOST), ("python", "print(candidate(1))")), "", HOST),
        ((("python", HOST), ("python", "def candidate(x): return x + 1")), "", "def candidate(x): return x + 1"),
        ((("python", "a = 1"), ("", KERNEL)), "cuda", KERNEL),
        ((("python", "a = 1"), ("", KERNEL)), "python", "a = 1"),
        ((("cpp", HOST),), "python", HOST),
        ((("bash", "nvcc k.cu"), ("cuda", KERNEL), ("bash", "./a.out")), "", KERNEL),
    ],
)
def test_which_of_several_blocks(blocks, language, code):
    assert extract(fenced(*blocks), language) == f"{code}\n"


def test_an_unknown_language_is_refused():
    with pytest.raises(UsageError, match="no language 'rust'; allowed: python, cuda, hip"):
        extract("a = 1", "rust")


@pytest.mark.parametrize(
    "completion",
    [
        [{"role": "assistant", "content": "a = 1"}],
        [{"role": "user", "content": "?"}, {"role": "assistant", "content": "a = 1"}, {"role": "tool", "content": "x"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "= 1"}]}],
        [SimpleNamespace(role="assistant", content="a = 1")],
        {"role": "assistant", "content": "a = 1"},
        "a = 1",
    ],
)
def test_texts_and_messages(completion):
    assert read_text(completion) == "a = 1"


@pytest.mark.parametrize("messages", [[], [("user", "?")], [("assistant", None)]])
def test_nothing_was_said(messages):
    assert read_text([{"role": role, "content": content} for role, content in messages]) == ""


@pytest.mark.parametrize("completion", [None, 3, b"a = 1", [1, 2], ["a", "b"]])
def test_what_is_no_completion(completion):
    with pytest.raises(UsageError, match="a completion is text or a list of messages"):
        read_text(completion)


@given(st.lists(st.sampled_from(["```", "```python", "~~~", "````", "a = 1", "<think>", "</think>", ""])))
def test_any_text_gives_a_text(lines):
    text = "\n".join(lines)
    assert all(isinstance(extract(text, language), str) for language in ("", "python", "cuda"))
    assert all(not code or code.endswith("\n") for _, code in read_blocks(text)[0])
    assert "</think>" not in strip_thoughts(text)
