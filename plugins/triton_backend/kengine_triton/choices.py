"""With which constants a candidate's kernels were built, in whatever way: what differs between the emulator and a chip.

A kernel whose constants or name depend on who runs it is another kernel there, of which an answer here says nothing.
"""

from __future__ import annotations

import json
from typing import Any

MANY = 8
"""Values of one name beyond which it is a figure that changes from launch to launch, and no longer of interest."""
LONG = 80
_seen: dict[str, set[str]] = {}


def forget() -> None:
    """Start with nothing seen."""
    _seen.clear()


def note(name: str, value: Any) -> None:
    """Add a value that a name had; those whose text is not the same in every process are left out."""
    text = _text(value)
    if text is not None and len(_seen.setdefault(name, set())) <= MANY:
        _seen[name].add(text)


def note_global(name: str, value: Any) -> None:
    """Add what a kernel takes from outside: a constant, or a plain value of a module by its dotted name."""
    if type(value).__name__ == "constexpr" or ("." in name and type(value) in (bool, int, float, str, type(None))):
        note(f"global {name}", value)


def summary() -> str:
    """All names with their values, in JSON."""
    return json.dumps({name: sorted(values) for name, values in sorted(_seen.items()) if len(values) <= MANY})


def _text(value: Any, depth: int = 0) -> str | None:
    if type(value).__name__ == "constexpr":
        return _text(value.value, depth)
    if isinstance(value, (bool, int, float, str, type(None))):
        return repr(value)[:LONG]
    if isinstance(value, (tuple, list)) and depth < 3 and len(value) <= 16:
        parts = [_text(item, depth + 1) for item in value]
        return None if None in parts else f"({', '.join(map(str, parts))})"[:LONG]
    name = getattr(getattr(value, "fn", None), "__name__", None)
    return f"function {name}"[:LONG] if isinstance(name, str) else None
