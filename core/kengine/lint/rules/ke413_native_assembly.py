"""Assembly reads clocks, lets the next kernel start early, or pins the cache.

What it does:
Looks at the text of `asm` statements: `%globaltimer`, `%clock`, `nanosleep`, `griddepcontrol`, `createpolicy`,
`evict_last`, `s_memtime`, `s_sleep`. Other assembly is fine.

Why is this bad:
Clocks and sleep tell one phase of a measurement from another, an early trigger lets work run on after the measured
time, and pinned lines outlive the flush between measurements. Each has honest uses, so this is a warning.

Example:
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));

Use instead:
    Do the same work in every call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree

_TRAPS = re.compile(
    r"%globaltimer|%clock(?:64|_hi)?\b|\bnanosleep\b|\bgriddepcontrol\b|\bcreatepolicy\b|\bevict_last\b|"
    r"\bs_memrealtime\b|\bs_memtime\b|\bs_sleep\b|\bs_getreg"
)


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at strings inside of asm statements."""
    for cpp in find_native(source).sources:
        unit = cpp.unit
        for i, token in enumerate(unit.tokens):
            if token.kind != "id" or token.text not in ("asm", "__asm__", "__asm"):
                continue
            at = i + 1
            while unit.word(at) in ("volatile", "__volatile__", "goto", "inline"):
                at += 1
            text = "".join(t.text for t in unit.tokens[at : unit.match.get(at, at)] if t.kind == "str")
            match = _TRAPS.search(text)
            if match:
                yield cpp.hit(i, f"assembly uses {match[0]}, which bends or reads the measurement")


RULE = Rule("KE413", "native-assembly", "warn", check, __doc__, ALL)
