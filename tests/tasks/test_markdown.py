"""Fenced blocks, and what only looks like one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kengine.tasks.markdown import has_fence, read_blocks


@pytest.mark.parametrize(("text", "blocks", "cut"), [
    ("", [], False),
    ("text", [], False),
    ("```\na\n```", [("", "a\n")], False),
    ("```Python title=a.py\na\n\n```\nthen\n~~~cuda,x\nb\n~~~~", [("python", "a\n\n"), ("cuda", "b\n")], False),
    ("```python\n```", [("python", "")], False),
    ("````\n```\na\n```\n````\n", [("", "```\na\n```\n")], False),
    ("```\na\n~~~\n```\n", [("", "a\n~~~\n")], False),
    ("```\na\n``` no end\n", [], True),
    ("```a`b\nx\n```\n", [], True),
    ("    ```\nx\n", [], False),
    ("x ```\ny\n", [], False),
    ("``\nx\n``\n", [], False),
    ("```\r\na\r\nb\r\n```\r\n", [("", "a\nb\n")], False),
    ("```\ra\rb\r```\r", [("", "a\nb\n")], False),
    ("```\na\x0bb\x0cc\x1cd\x85e\u2028f\n```", [("", "a\x0bb\x0cc\x1cd\x85e\u2028f\n")], False),
    ("```py\na\n```\n```py\nb", [("py", "a\n")], True),
])  # fmt: skip
def test_blocks(text: str, blocks: list[tuple[str, str]], cut: bool) -> None:
    assert read_blocks(text) == (blocks, cut)
    assert has_fence(text) or not (blocks or cut)


@pytest.mark.parametrize(("text", "has"), [
    ("a\n ~~~ x", True), ("a\r```\r", True), ("a ``` b", False), ("", False), ("```a`", True), ("    ```", False),
])  # fmt: skip
def test_fences(text: str, has: bool) -> None:
    assert has_fence(text) is has


_LINES = ("```", "````", "~~~", "``` ", "```py", "  ~~~", "    ```", "`a```", "```a`", "a", "~", "`", "", "\x0c```")


@given(st.lists(st.tuples(st.sampled_from(_LINES), st.sampled_from(("\n", "\r\n", "\r"))), max_size=14))
def test_a_search_for_marks_finds_what_a_walk_over_all_lines_does(lines: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in lines)
    assert read_blocks(text) == _walk(text)


def _walk(text: str) -> tuple[list[tuple[str, str]], bool]:
    found: list[tuple[str, str]] = []
    mark, tag, inside = "", "", ""
    for line in re.split("\r\n|\r|\n", text):
        fence = re.fullmatch(r" {0,3}(`{3,}|~{3,})[ \t]*(.*?)[ \t]*", line, re.DOTALL)
        if fence and not mark and not (fence[1][0] == "`" and "`" in fence[2]):
            mark, tag, inside = fence[1], fence[2].split()[0] if fence[2] else "", ""
        elif fence and mark and fence[1].startswith(mark) and not fence[2]:
            found.append((tag, inside))
            mark = ""
        elif mark:
            inside += line + "\n"
    return found, bool(mark)
