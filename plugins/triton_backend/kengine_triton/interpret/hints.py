"""Hints to the compiler about values: checked for nothing, except that their count must fit, and never fatal.

Triton's interpreter refuses `tl.multiple_of` with one hint for a block of several dimensions on some versions.
"""

from __future__ import annotations

from typing import Any


def install_language() -> None:
    """Replace `multiple_of`, `max_contiguous`, `max_constancy`; called after Triton has patched its language."""
    import triton.language as tl

    for name in ("multiple_of", "max_contiguous", "max_constancy"):
        setattr(tl, name, _hint(name))


def _hint(name: str) -> Any:
    def hint(input: Any, values: Any, **_: Any) -> Any:
        given = values if isinstance(values, (list, tuple)) else [values]
        shape = getattr(input, "shape", ())
        if len(given) not in (1, max(1, len(shape))):
            raise ValueError(f"tl.{name} got {len(given)} values for a block of {len(shape)} dimensions")
        return input

    return hint
