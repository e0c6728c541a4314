"""Parameters of a kernel or host function as its text declares them: names, pointers, constness."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kengine.simt.kernels import parameter_name
from kengine.simt.lexer import blank, closing, split_commas

_TYPE_WORDS = frozenset({"long", "int", "short", "char", "double", "float", "bool", "unsigned", "signed", "const"})


@dataclass(frozen=True)
class Declared:
    """One parameter: its name ("" without one), the text of its type, and what it is."""

    name: str
    type: str
    is_pointer: bool
    is_const: bool


def find_parameters(source: str, name: str) -> tuple[Declared, ...] | None:
    """Parameters of the function that `name` (template arguments and scopes left aside) defines; None if it does not.

    The last definition counts, since an earlier one may be a forward declaration or another overload.
    """
    text = blank(source)
    bare = re.split(r"[<(]", name)[0].split("::")[-1].strip()
    found: tuple[Declared, ...] | None = None
    for match in re.finditer(rf"\b{re.escape(bare)}\s*\(", text):
        end = closing(text, match.end() - 1)
        if end < 0 or not re.match(r"\s*(?:noexcept\s*)?\{", text[end + 1 : end + 200]):
            continue
        inner = text[match.end() : end].strip()
        found = () if inner in ("", "void") else tuple(_declared(part) for part in split_commas(inner))
    return found


def _declared(text: str) -> Declared:
    text = text.split("=")[0].strip()
    name = parameter_name(text)
    name = "" if name in _TYPE_WORDS else name
    kind = re.sub(rf"\b{re.escape(name)}\b\s*(\[[^\]]*\])?\s*$", r"\1", text).strip() if name else text
    head = kind.split("*")[0].split("[")[0]
    pointer = "*" in kind or "[" in kind
    return Declared(name, kind, pointer, pointer and re.search(r"\bconst\b", head) is not None)


def is_extern_c(source: str, name: str) -> bool:
    """Whether a kernel is declared `extern "C"`, by itself or in a block."""
    text = blank(source)
    for match in re.finditer(rf"\b{re.escape(name)}\s*\(", text):
        head = text[max(text.rfind(c, 0, match.start()) for c in ";}{") + 1 : match.start()]
        if "__global__" in head and re.search(r'\bextern\s*"', head):
            return True
    for match in re.finditer(r'\bextern\s*"\s*"\s*\{', text):
        end = closing(text, match.end() - 1)
        if re.search(rf"\b{re.escape(name)}\s*\(", text[match.end() : end if end >= 0 else len(text)]):
            return True
    return False
