"""How far a candidate is from the kernel that it was asked to improve."""

from __future__ import annotations

import re
from typing import Literal

from kengine.errors import UsageError

Language = Literal["python", "cuda", "hip"]

_TEXT = r'"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'"
_REST = r"[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||->|::|\S"
_PYTHON = re.compile(rf"(?P<comment>#[^\n]*)|{_TEXT}|{_REST}")
_C = re.compile(rf"(?P<comment>//[^\n]*|/\*.*?\*/)|{_TEXT}|{_REST}", re.S)
MAX_TOKENS = 20_000
"""Longest text that is compared, in tokens; the work grows with the product of the two lengths."""


def tokens(text: str, language: Language = "hip") -> list[str]:
    """Names, numbers, strings and operators of a source text, without comments and space."""
    pattern = _PYTHON if language == "python" else _C
    return [match[0] for match in pattern.finditer(text) if match["comment"] is None]


def dtw_distance(text: str, original: str, *, language: Language = "hip") -> float:
    """Distance of two source texts by dynamic time warping over their tokens, in [0, 1]: 0 for the same tokens.

    Each step of the cheapest alignment costs 0 for equal tokens and 1 for different ones; the sum is divided by the
    longer length, which it cannot exceed. Repeated tokens align with one, as the method has it. Raises UsageError for
    texts of more than MAX_TOKENS tokens.
    """
    a, b = tokens(text, language), tokens(original, language)
    for name, found in (("text", a), ("original", b)):
        if len(found) > MAX_TOKENS:
            raise UsageError(f"{name}: {len(found)} tokens are more than the {MAX_TOKENS} that can be compared")
    if not a or not b:
        return 0.0 if a == b else 1.0
    return _align(a, b) / max(len(a), len(b))


def _align(a: list[str], b: list[str]) -> float:
    """Cost of the cheapest alignment. Works along anti-diagonals, whose cells do not depend on each other."""
    import numpy as np

    numbers: dict[str, int] = {}
    x = np.array([numbers.setdefault(t, len(numbers)) for t in a])
    y = np.array([numbers.setdefault(t, len(numbers)) for t in b])[::-1]
    n, m = len(a), len(b)
    # Place i + 1 of a diagonal d is the cell of a[i] and b[d - i]; infinity stands for all that lies outside.
    before, last = np.full(n + 1, np.inf), np.full(n + 1, np.inf)
    for d in range(n + m - 1):
        low, high = max(0, d - m + 1), min(d, n - 1)
        start = m - 1 - d + low
        cost = (x[low : high + 1] != y[start : start + high - low + 1]).astype(np.float64)
        if d:
            cost += np.minimum(np.minimum(last[low : high + 1], last[low + 1 : high + 2]), before[low : high + 1])
        here = np.full(n + 1, np.inf)
        here[low + 1 : high + 2] = cost
        before, last = last, here
    return float(last[n])
