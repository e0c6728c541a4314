"""Parameters of a kernel or host function as its text declares them: names, pointers, constness."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kengine.simt.kernels import parameter_name
from kengine.simt.lexer import blank, closing, split_commas

_TYPE_WORDS = frozenset({"long", "int", "short", "char", "double", "float", "bool", "unsigned", "signed", "const"})


_NUMBERS = frozenset({
    "int", "unsigned", "unsigned int", "long", "long long", "size_t", "int64_t", "int32_t", "uint32_t", "float",
    "double", "bool",
})  # fmt: skip


@dataclass(frozen=True)
class Declared:
    """One parameter: its name ("" without one), the text of its type, and what it is."""

    name: str
    type: str
    is_pointer: bool
    is_const: bool


def find_mismatch(source: str, name: str, values: Sequence[Any]) -> str:
    """What is wrong with the arguments of a launch as far as the kernel's text tells, "" when nothing is, or when the
    text does not tell: definitions that differ, parameter packs, types that macros make."""
    every = _definitions(source, name)
    if not every or len({tuple((p.type, p.name) for p in one) for one in every}) > 1:
        return ""
    (declared, *_) = every
    if any("..." in p.type or not p.type for p in declared):
        return ""
    if len(declared) != len(values):
        wanted = ", ".join(f"{p.type} {p.name}".strip() for p in declared)
        return f"{name} takes {len(declared)} arguments ({wanted}), {len(values)} given"
    for i, (parameter, value) in enumerate(zip(declared, values)):
        problem = ""
        is_array = hasattr(value, "dtype") and getattr(value, "ndim", 0) > 0
        if parameter.is_pointer and isinstance(value, float):
            problem = f"expected an array, got {type(value).__name__}"
        elif parameter.type.replace("const", "").strip() in _NUMBERS and is_array and getattr(value, "size", 2) != 1:
            problem = f"expected a number, got an array of {str(value.dtype).removeprefix('torch.')}"
        if problem:
            return f"{name}: argument {i} for '{parameter.type} {parameter.name}': {problem}"
    return ""


def find_parameters(source: str, name: str) -> tuple[Declared, ...] | None:
    """Parameters of the function that `name` (template arguments and scopes left aside) defines; None if it does not.

    The last definition counts, since an earlier one may be a forward declaration or another overload.
    """
    found = _definitions(source, name)
    return found[-1] if found else None


def _definitions(source: str, name: str) -> list[tuple[Declared, ...]]:
    """Parameters of every function of that name that the source defines."""
    text = blank(source)
    bare = re.split(r"[<(]", name)[0].split("::")[-1].strip()
    found = []
    for match in re.finditer(rf"\b{re.escape(bare)}\s*\(", text):
        end = closing(text, match.end() - 1)
        if end < 0 or not re.match(r"\s*(?:noexcept\s*)?\{", text[end + 1 : end + 200]):
            continue
        inner = text[match.end() : end].strip()
        found.append(() if inner in ("", "void") else tuple(_declared(part) for part in split_commas(inner)))
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
