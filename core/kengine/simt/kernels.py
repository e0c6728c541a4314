"""The kernels that a source defines, found in its text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kengine.simt.lexer import closing, line_of, split_commas


@dataclass(frozen=True)
class Definition:
    """A `__global__` function with a body. Offsets are into the source."""

    name: str
    is_template: bool
    parameters: tuple[str, ...]
    line: int
    body_start: int
    body_end: int


_WORD = re.compile(r"[A-Za-z_]\w*")
_PASTED = re.compile(r"[A-Za-z_]\w*(?:\s*##\s*\w+)*")  # in a macro, a name may be pasted together
_ATTRIBUTES = {
    "__launch_bounds__",
    "__attribute__",
    "__cluster_dims__",
    "__maxnreg__",
    "__block_size__",
    "alignas",
    "__align__",
    "decltype",
}
_NOT_NAMES = {"const", "volatile", "__restrict__", "restrict", "__restrict", "__grid_constant__"}


def parameter_name(text: str) -> str:
    """The name in a parameter's declaration, '' for one without a name."""
    text = text.split("=")[0]
    text = re.sub(r"\[[^\]]*\]\s*$", "", text.strip()).strip()
    function = re.search(r"\(\s*[*&]\s*(\w+)\s*\)", text)
    if function:
        return function.group(1)
    words = [w for w in _WORD.findall(text) if w not in _NOT_NAMES]
    return (
        words[-1] if len(words) > 1 or (words and re.search(r"[*&>]\s*(?:const\s+|__restrict__\s+)*\w+$", text)) else ""
    )


def find_kernels(blanked: str) -> list[Definition]:
    """Every kernel definition of a source whose comments and literals are blanked."""
    found = []
    for match in re.finditer(r"\b__global__\b", blanked):
        head = blanked[max(blanked.rfind(c, 0, match.start()) for c in ";}{") + 1 : match.start()]
        is_template = re.search(r"\btemplate\b", head) is not None
        definition = _parse(blanked, match.end(), is_template)
        if definition is not None:
            found.append(definition)
    return found


def _parse(text: str, i: int, is_template: bool) -> Definition | None:
    name, start = "", i
    while i < len(text):
        c = text[i]
        word = _PASTED.match(text, i)
        if word:
            i = word.end()
            rest = re.compile(r"\s*").match(text, i)
            after = rest.end() if rest else i
            if word.group(0) in _ATTRIBUTES and text[after : after + 1] == "(":
                i = closing(text, after) + 1
                if i <= 0:
                    return None
                continue
            name, start = word.group(0), word.start()
        elif c == "<":
            i = closing(text, i) + 1
            is_template = True
            if i <= 0:
                return None
        elif c == "(":
            break
        elif c in ";{}=":
            return None
        else:
            i += 1
    end = closing(text, i) if i < len(text) else -1
    if end < 0 or not name:
        return None
    body = re.compile(r"(?:\s|noexcept|__attribute__\s*\(\([^)]*\)\))*").match(text, end + 1)
    opening = body.end() if body else end + 1
    if text[opening : opening + 1] != "{":
        return None
    last = closing(text, opening)
    if last < 0:
        return None
    inner = text[i + 1 : end].strip()
    parameters = () if inner in ("", "void") else tuple(parameter_name(p) for p in split_commas(inner))
    return Definition(name, is_template, parameters, line_of(text, start), opening, last)
