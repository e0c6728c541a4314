"""How far a candidate is from the kernel that it was asked to improve."""

from __future__ import annotations

import re

from kengine.errors import UsageError

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|#(?![ \t]*(?:include|define|if|ifdef|ifndef|else|elif|endif|pragma|undef)\b)[^\n]*", re.S)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|<<<|>>>|<<|>>|[-+*/%&|^!=<>]=|&&|\|\||->|::|\S")
MAX_TOKENS = 20_000
"""Longest text that is compared, in tokens; the work grows with the product of the two lengths."""


def tokens(text: str) -> list[str]:
    """Names, numbers and operators of a source text of Python or of the C family, without comments and space."""
    return _TOKEN.findall(_COMMENT.sub(" ", text))


def dtw_distance(text: str, original: str) -> float:
    """Distance of two source texts by dynamic time warping over their tokens, in [0, 1]: 0 for the same tokens.

    Each step of the cheapest alignment costs 0 for equal tokens and 1 for different ones; the sum is divided by the
    longer length, which no cheapest alignment exceeds. Repeated tokens align with one, as the method has it. Raises
    UsageError for texts of more than MAX_TOKENS tokens.
    """
    a, b = tokens(text), tokens(original)
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
    # Cell i of a diagonal d stands for a[i] and b[d - i]; a border of infinity stands for what lies outside.
    before = np.full(n + 1, np.inf)
    last = np.full(n + 1, np.inf)
    for d in range(n + m - 1):
        low, high = max(0, d - m + 1), min(d, n - 1)
        start = m - 1 - d + low
        cost = (x[low : high + 1] != y[start : start + high - low + 1]).astype(np.float64)
        here = np.full(n + 1, np.inf)
        least = np.minimum(np.minimum(last[low : high + 1], last[low + 1 : high + 2]), before[low : high + 1])
        here[low + 1 : high + 2] = cost + (0.0 if d == 0 else least)
        before, last = last, here
    return float(last[n])
