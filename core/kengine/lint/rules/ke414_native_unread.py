"""A C++ source could not be read to the end.

What it does:
Reports sources that are longer than the rules look at, or whose macros expand without end.

Why is this bad:
What was not read was not checked. No kernel needs macros that unfold into hundreds of thousands of tokens.

Example:
    #define A B B
    #define B C C
    ...

Use instead:
    Templates and functions; a source of ordinary length.
"""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.sources import find_native
from kengine.lint.rule import ALL, Context, Hit, Rule
from kengine.lint.source import SourceTree


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at how far each source was read."""
    for cpp in find_native(source).sources:
        if cpp.unit.incomplete:
            yield Hit(
                cpp.begins, "the C++ source is too long, or its macros unfold without end; only a part was looked at", 1
            )


RULE = Rule("KE414", "native-unread", "warn", check, __doc__, ALL)
