"""Clang's vectors of any length, which HIP's compiler has and g++ ignores without a word: made a class of ours."""

from __future__ import annotations

import re

_TYPE = r"(?:const\s+)?(?:(?:unsigned|signed|long|short)\s+)*[A-Za-z_][\w:]*(?:\s+(?:int|long|char))?"
_MARK = r"__attribute__\s*\(\(\s*(?:__)?ext_vector_type(?:__)?\s*\((?P<length>[^()]*(?:\([^()]*\)[^()]*)*)\)\s*\)\)"
_FORMS = tuple(
    re.compile(form.replace("MARK", _MARK).replace("TYPE", f"(?P<type>{_TYPE})").replace("NAME", r"(?P<name>\w+)"))
    for form in (
        r"\btypedef\s+TYPE\s+NAME\s+MARK\s*;",
        r"\btypedef\s+TYPE\s+MARK\s*NAME\s*;",
        r"\btypedef\s+MARK\s*TYPE\s+NAME\s*;",
        r"\busing\s+NAME\s*=\s*MARK\s*TYPE\s*;",
        r"\busing\s+NAME\s*=\s*TYPE\s+MARK\s*;",
    )
)
_ANY = re.compile(r"\bext_vector_type\b|\b__ext_vector_type__\b")


def find_edits(text: str) -> list[tuple[int, int, str]]:
    """Start, end and replacement of each declaration of such a type, in a text without comments."""
    found = []
    for form in _FORMS:
        for match in form.finditer(text):
            type_, name, length = match["type"], match["name"], match["length"].strip()
            found.append((match.start(), match.end(), f"using {name} = ::simt::ext_vector<{type_}, {length}>;"))
    return found


def find_others(text: str) -> int | None:
    """Offset of the first use of such a vector that is no declaration which `find_edits` knows; None without one."""
    known = [(start, end) for start, end, _ in find_edits(text)]
    for match in _ANY.finditer(text):
        if not any(start <= match.start() < end for start, end in known):
            return match.start()
    return None
