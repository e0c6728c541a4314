"""What ptxas says of each kernel with `-v`: registers, spills, stack, shared and constant memory."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"Compiling entry function '([^']+)' for '(sm_\w+)'")
_FRAME = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")
_LOCAL = re.compile(r"(\d+) bytes lmem")


@dataclass(frozen=True)
class Usage:
    """One kernel by its mangled name. Sizes in bytes; `stack` is local memory of a thread."""

    symbol: str
    registers: int = 0
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0


def read_usage(log: str) -> dict[str, Usage]:
    """Every kernel in a log."""
    found: dict[str, Usage] = {}
    pieces = _ENTRY.split(log)
    for symbol, text in zip(pieces[1::3], pieces[3::3]):
        frame, used, shared, local = (p.search(text) for p in (_FRAME, _USED, _SHARED, _LOCAL))
        found[symbol] = Usage(
            symbol,
            int(used[1]) if used else 0,
            int(frame[1]) if frame else int(local[1]) if local else 0,
            int(frame[2]) if frame else 0,
            int(frame[3]) if frame else 0,
            int(shared[1]) if shared else 0,
        )
    return found


def plain_name(symbol: str) -> str:
    """The function's own name in a mangled one: `_Z5scaleIfEvPT_` is `scale`; scopes are kept."""
    if not symbol.startswith("_Z"):
        return symbol
    rest = symbol[2:]
    nested = rest.startswith("N")
    rest = rest[1:].lstrip("K") if nested else rest
    parts = []
    while match := re.match(r"L?(\d+)", rest):
        size = int(match[1])
        parts.append(rest[match.end() : match.end() + size])
        rest = rest[match.end() + size :]
        if not nested:
            break
    shown = [part for part in parts if not part.startswith(("_GLOBAL__N", "_INTERNAL"))]
    return "::".join(shown) or symbol
