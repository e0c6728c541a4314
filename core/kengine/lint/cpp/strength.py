"""How much a kernel of a C++ source does: nothing, copy, or work."""

from __future__ import annotations

from collections.abc import Iterator

from kengine.lint.cpp.unit import Function, Unit

_SILENT = frozenset({"return", "if", "for", "while", "switch", "sizeof", "__syncthreads", "__syncwarp", "printf",
                     "static_cast", "reinterpret_cast", "min", "max", "assert", "__nanosleep", "dim3"})  # fmt: skip
_ASSIGNS = frozenset({"=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", "<<="})
_CASTS = frozenset({"static_cast", "float", "double", "int", "half", "__half", "__ldg", "__float2half", "__half2float",
                    "scalar_t", "T", "reinterpret_cast", "__float2bfloat16", "__bfloat162float"})  # fmt: skip
_INTEGERS = frozenset(
    {
        "int",
        "const",
        "unsigned",
        "size_t",
        "long",
        "auto",
        "int64_t",
        "uint32_t",
        "uint64_t",
        "int32_t",
        "constexpr",
        "return",
        "ptrdiff_t",
    }
)
_PLAIN = frozenset({"=", "(", ")", ",", "::", "."})
_NUMBERS = frozenset({"1", "1.", "1.0", "1f", "1.0f", "1.f", "0", "0.0f", "0.f", "0.0"})


def writes(unit: Unit, function: Function) -> bool:
    """Whether a kernel may write to memory: an assignment through an index or a pointer, or a call that could."""
    start, end = function.body
    for i in range(start, end):
        token = unit.tokens[i]
        word = token.text if token.kind in ("op", "id") else ""
        before = unit.word(i - 1)
        if word in _ASSIGNS or word in ("++", "--"):
            if before == "]" or (before == "(" and word in ("++", "--")):
                return True
            if _is_pointed(unit, i, start):
                return True
        elif (
            word in ("asm", "__asm__", "__asm")
            or (word == "(" and i > start and unit.tokens[i - 1].kind == "id" and before not in _SILENT)
            or (word == "(" and before == ">")
            or word == "<<<"
        ):
            return True
    return False


def _is_pointed(unit: Unit, at: int, start: int) -> bool:
    """Whether what stands before an assignment is `*p`, `p->x`, `*(p + i)` or a member of an indexed value."""
    i = at - 1
    while i > start and unit.word(i) not in (";", "{", "}") and at - i < 60:
        if unit.word(i) in ("->", "]"):
            return True
        if unit.word(i) == "*" and (unit.word(i - 1) in (";", "{", "}", ")", "else") or i == start):
            return True
        i -= 1
    return unit.word(i) == "*" and i == start


def only_copies(unit: Unit, function: Function) -> bool:
    """Whether a kernel stores only what it loaded, unchanged or multiplied by one. False where it is not clear."""
    stores = loops = 0
    for i in range(*function.body):
        word = unit.word(i)
        if loops and word == "if":
            return False  # a search
        loops += word in ("for", "while")
        if word in ("if", "for", "while") and "[" in map(unit.word, range(i + 1, unit.match.get(i + 1, i + 1))):
            return False  # it decides by values
    if loops > 1:
        return False
    for start, end in _statements(unit, *function.body):
        words = [unit.tokens[i] for i in range(start, end)]
        if not any(t.text == "[" or t.text == "->" for t in words):
            index = words[0].text in _INTEGERS
            if not index and any(t.kind == "op" and t.text not in _PLAIN for t in words):
                return False
            continue
        equals = next((i for i in range(start, end) if unit.word(i) == "="), -1)
        if equals < 0:
            return False
        stores += unit.word(equals - 1) == "]"
        i = equals + 1
        while i < end:
            word, token = unit.word(i), unit.tokens[i]
            if word == "[":
                close = unit.match.get(i, end)
                if "[" in map(unit.word, range(i + 1, close)):
                    return False  # gathers
                i = close
            elif word == "(" and unit.tokens[i - 1].kind == "id" and unit.word(i - 1) not in _CASTS:
                return False
            elif word == "*" and i + 1 < end and unit.tokens[i + 1].text in _NUMBERS:
                i += 1
            elif token.kind == "op" and word in ("+", "-", "*", "/", "?", "%", "&", "|", "^", "<", "<<"):
                if not (word == "<" and unit.word(i - 1) in _CASTS):
                    return False
            elif word in ("+=", "-=", "*=", "/="):
                return False
            i += 1
    return stores > 0


def may_multiply(unit: Unit, function: Function) -> bool:
    """Whether a kernel holds anything that could be part of a product: a loop that adds, a multiply-add, a shuffle."""
    words = [t.text for t in unit.tokens[slice(*function.body)] if t.kind in ("id", "op")]
    loops = "for" in words or "while" in words
    if loops and ("+=" in words or "fma" in words or "fmaf" in words):
        return True
    return any(
        w in ("asm", "atomicAdd", "fmaf", "fma") or "mma" in w or "shfl" in w or "dp4a" in w for w in words
    ) or any(
        t.kind == "id" and unit.word(i + 1) == "(" and t.text in unit.defined
        for i, t in enumerate(unit.tokens[: function.body[1]])
        if i >= function.body[0]
    )


def _statements(unit: Unit, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Ranges between semicolons and braces, without the heads of `if`, `for` and `while`."""
    at = i = start
    while i < end:
        word = unit.word(i)
        if word in ("if", "for", "while", "switch") and unit.word(i + 1) == "(":
            at = i = unit.match.get(i + 1, end) + 1
            continue
        if word in (";", "{", "}"):
            if i > at:
                yield at, i
            at = i + 1
        elif word == "(":
            i = unit.match.get(i, end)
        i += 1
