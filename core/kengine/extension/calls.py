"""Operators of torch that the host code of an extension calls by name: what the light headers take from torch.

By the text, comments and literals left out; a library built with torch's own headers says it by its imports instead.
"""

from __future__ import annotations

import functools
import re

from kengine.extension.toolkit import ROOT
from kengine.simt.lexer import blank, closing

_FREE = re.compile(r"\b(?:at|torch|aten)\s*::\s*(?:\w+\s*::\s*)*(\w+)\s*(?:<[^<>;(){}]*>\s*)?\(")
_METHOD = re.compile(r"(?:\.|->)\s*(?:template\s+)?(\w+)\s*\(")
_DEVICE = re.compile(r"\b__(?:global|device)__\b")
_TENSOR = re.compile(r"\b(?:at|torch)\s*::\s*Tensor\s+(?:const\s*)?&?\s*(\w+)\b")
_AMBIGUOUS = frozenset(
    {"any", "all", "data", "view", "repeat", "select", "slice", "split", "round", "put", "take", "set_"}
)
"""Methods that other classes of C++ have as well; they count where they stand before a tensor's name only."""


def find_calls(text: str) -> tuple[str, ...]:
    """`at::mm` for `at::mm(...)`, `torch::mm(...)` and `x.mm(...)`, sorted. Device code calls none."""
    host = _without_device(blank(text))
    known = _names()
    tensors = set(_TENSOR.findall(host))
    found = {match[1] for match in _FREE.finditer(host) if match[1] in known}
    for match in _METHOD.finditer(host):
        if match[1] in known and (match[1] not in _AMBIGUOUS or _owner(host, match.start()) in tensors):
            found.add(match[1])
    return tuple(sorted(f"at::{name}" for name in found))


def _owner(text: str, end: int) -> str:
    match = re.search(r"(\w+)\s*\Z", text[max(0, end - 80) : end])
    return match[1] if match else ""


def _without_device(text: str) -> str:
    """The text with the bodies of kernels and device functions left out."""
    kept, at = [], 0
    for match in _DEVICE.finditer(text):
        if match.start() < at:
            continue
        opening = re.compile(r"[{;]").search(text, match.end())
        if opening is None or opening[0] == ";":
            continue
        end = closing(text, opening.start())
        kept.append(text[at : opening.start()])
        at = end + 1 if end >= 0 else len(text)
    return "".join([*kept, text[at:]])


@functools.lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """Every operator that the light headers offer."""
    folder = ROOT / "light"
    found = set(re.findall(r"\bX\((\w+)\)", (folder / "names.h").read_text()))
    for name in ("functions.h", "tensor.h"):
        text = (folder / name).read_text()
        found |= set(re.findall(r'\b(?:apply|many|two|three|in_place)\("(\w+)"', text))
        found |= set(re.findall(r"\bLIGHT_X\((\w+)\)(?=[ \n])", text))
    return frozenset(found) - {"X", "name"}
