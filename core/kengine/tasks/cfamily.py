"""As much of CUDA and HIP text as the core needs: comments and strings apart from code, and names of kernels."""

from __future__ import annotations

import re

SUFFIXES = {".cu": "cuda", ".cuh": "cuda", ".hip": "hip"}
"""Suffix of a file -> language of a candidate whose main file it is."""

HEADERS = frozenset({".cuh", ".h", ".hpp", ".hxx", ".inl", ".inc"})
"""Suffixes of files that are never the main file while there is another."""

_LEXEME = re.compile(
    r"""(?P<line>//(?:[^\n\\]|\\\n|\\.)*)|(?P<block>/\*.*?(?:\*/|\Z))"""
    r"""|(?P<raw>R"(?P<tag>[^()\\\s]{0,16})\(.*?(?:\)(?P=tag)"|\Z))"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.|\\\n)*"?|(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)*'?)""",
    re.DOTALL,
)
_SKIP = frozenset({"__launch_bounds__", "__attribute__", "__declspec", "amdgpu_flat_work_group_size", "alignas",
                   "amdgpu_waves_per_eu", "__cluster_dims__", "__maxnreg__", "__block_size__"})  # fmt: skip


def blank_comments(text: str, strings: bool = True) -> str:
    """Replace comments (and the insides of strings) by spaces, keeping every newline and column."""

    def blank(match: re.Match[str]) -> str:
        found = match[0]
        if match["line"] or match["block"]:
            return re.sub(r"[^\n]", " ", found)
        if not strings or len(found) < 2:
            return found
        return found[0] + re.sub(r"[^\n]", " ", found[1:-1]) + found[-1]

    return _LEXEME.sub(blank, text)


def comment_lines(text: str) -> set[int]:
    """1-based lines on which a `//` comment begins in the first column."""
    found = set()
    for match in _LEXEME.finditer(text):
        if match["line"] and (match.start() == 0 or text[match.start() - 1] == "\n"):
            found.add(text.count("\n", 0, match.start()) + 1)
    return found


def kernel_names(text: str) -> list[str]:
    """Names of the `__global__` functions in order of appearance, each once; comments and strings do not count."""
    code = blank_comments(text)
    names: dict[str, None] = {}
    for match in re.finditer(r"\b__global__\b", code):
        at = match.end()
        while True:
            head = re.compile(r"[^;{}()]*?\b([A-Za-z_]\w*)\s*\(").match(code, at)
            if head is None:
                break
            if head[1] not in _SKIP:
                names.setdefault(head[1])
                break
            at = _closing(code, head.end() - 1)
    return list(names)


def has_name(text: str, name: str) -> bool:
    """Whether `name` stands in the code (not in a comment or string) as an identifier of its own."""
    return re.search(rf"\b{re.escape(name)}\b", blank_comments(text)) is not None


def _closing(code: str, opening: int) -> int:
    depth = 0
    for i in range(opening, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return len(code)
