"""The few textual changes that make a device source a C++ source. None adds or removes a line.

Shared variables become references to storage that the runtime knows, launches become calls, kernels are registered
behind their bodies, and an explicit `return` of a kernel is marked (a thread that returns early counts as arrived at
later barriers, as on the devices; one that passes a barrier by and ends does not).
"""

from __future__ import annotations

import re

from kengine.simt.kernels import Definition, find_kernels
from kengine.simt.lexer import blank, closing, split_commas
from kengine.simt.vectors import find_edits

_SPECIFIERS = re.compile(
    r"(?:\b(?:static|extern|volatile|const|inline|constexpr|thread_local)\s+"
    r"|\b(?:alignas|__align__|__attribute__)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\s*)+$"
)
_ALIGNMENT = re.compile(r"\b(?:alignas|__align__)\s*\(((?:[^()]|\([^()]*\))*)\)")
_DECLARATOR = re.compile(
    r"^(?P<type>.*?)(?P<name>[A-Za-z_]\w*)\s*(?P<align>(?:(?:alignas|__align__)\s*\((?:[^()]|\([^()]*\))*\)\s*)?)(?P<dims>(?:\[.*\]\s*)?)$",
    re.S,
)


def rewrite(source: str) -> str:
    """The source as the compiler gets it."""
    text = blank(source)
    kernels = find_kernels(text)
    edits: list[tuple[int, int, str]] = find_edits(text)
    _rewrite_shared(source, text, edits)
    names = [k.name for k in kernels]
    generic = {k.name for k in kernels if k.is_template or names.count(k.name) > 1}
    _rewrite_launches(source, text, generic, edits)
    _rewrite_kernels(text, kernels, edits)
    # As a macro, this keyword would break the C++ library's own attributes of the same name.
    for match in re.finditer(r"(?<![\w(,])__noinline__\b(?!\s*[,)])", text):
        at = match.end() - len("__noinline__")
        edits.append((at, match.end(), "__attribute__((noinline))"))
    return _apply(source, edits)


def has_volatile_code(source: str) -> bool:
    """Whether the source uses volatile memory, through which lanes of a warp may talk without a barrier."""
    return (
        re.search(r"\bvolatile\b(?!\s*\()", re.sub(r"\basm\s+volatile\b|__asm__\s+volatile\b", "", blank(source)))
        is not None
    )


def has_return_in_macro(source: str) -> bool:
    """Whether a macro contains a return, which the marking of early returns cannot see."""
    return re.search(r"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*\breturn\s*;", blank(source), re.M) is not None


def _apply(source: str, edits: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, end, text in sorted(edits):
        if start < at:
            continue
        lost = source.count("\n", start, end) - text.count("\n")
        parts += [source[at:start], text, "\n" * max(lost, 0)]
        at = end
    return "".join([*parts, source[at:]])


def _inside_function(text: str, offset: int) -> bool:
    depth, stack = 0, []
    for match in re.finditer(r"[{}]", text[:offset]):
        if match.group(0) == "{":
            before = text[max(0, match.start() - 200) : match.start()]
            scope = re.search(r"(?:\bnamespace\b[\w:\s]*|\bextern\s*\"[^\"]*\"\s*)$", before) is not None
            stack.append(scope)
            depth += not scope
        elif stack:
            depth -= not stack.pop()
    return depth > 0


def _end_of_statement(text: str, start: int) -> int:
    i = start
    while i < len(text):
        if text[i] in "([{":
            i = closing(text, i)
            if i < 0:
                return -1
        elif text[i] == ";":
            return i
        i += 1
    return -1


def _aligned(type_text: str) -> str:
    return _ALIGNMENT.sub(r"__attribute__((aligned(\1)))", type_text)


def _rewrite_shared(source: str, text: str, edits: list[tuple[int, int, str]]) -> None:
    for match in re.finditer(r"\b__shared__\b", text):
        line_start = text.rfind("\n", 0, match.start()) + 1
        if re.match(r"\s*#\s*(?:if|elif|undef)|\s*#\s*define\s+\w+\s+__shared__\s*$", text[line_start : match.end()]):
            continue
        prefix = _SPECIFIERS.search(text[: match.start()][-400:])
        specifiers = prefix.group(0) if prefix else ""
        start = match.start() - len(specifiers)
        end = _end_of_statement(text, match.end())
        if end < 0:
            continue
        words = specifiers + " " + source[match.end() : end]
        is_extern = re.search(r"\bextern\b", words.split("[")[0]) is not None
        words = re.sub(r"^((?:[^\[{;]*?))\b(?:static|extern|thread_local|inline)\b", r"\1", words)
        words = re.sub(r"^((?:[^\[{;]*?))\b(?:static|extern|thread_local|inline)\b", r"\1", words)
        declared = _declare(words.replace("\n", " "), is_extern, _inside_function(text, match.start()))
        if declared is not None:
            edits.append((start, end, declared))


def _declare(statement: str, is_extern: bool, in_function: bool) -> str | None:
    parts = split_commas(statement)
    first = _DECLARATOR.match(blank(parts[0]).strip())
    if not first or not first["type"].strip():
        return None
    base = _aligned(first["type"])
    out = []
    for i, part in enumerate(parts):
        m = first if i == 0 else _DECLARATOR.match(part.strip())
        if not m:
            return None
        stars = "" if i == 0 else m["type"]
        type_text = (base if i == 0 else re.sub(r"[*\s]+$", "", base) + " " + stars) + " " + _aligned(m["align"])
        out.append(_declare_one(type_text.strip(), m["name"], m["dims"].strip(), is_extern, in_function))
    return "; ".join(out)


def _declare_one(type_text: str, name: str, dims: str, is_extern: bool, in_function: bool) -> str:
    alias = f"simt_type_{name}"
    if is_extern:
        inner = re.sub(r"^\[\s*\]", "", dims) if dims else ""
        typedef = f"typedef {type_text} {alias} {inner}; "
        if in_function:
            return (
                typedef
                + f"{alias}* const {name} __attribute__((unused)) = reinterpret_cast<{alias}*>(simt_dynamic_shared)"
            )
        return (
            typedef + f"static {alias}* const& {name} __attribute__((unused)) = "
            f"reinterpret_cast<{alias}* const&>(simt_dynamic_shared)"
        )
    tag = f"simt_tag_{name}"
    return (
        f'typedef {type_text} {alias} {dims}; struct {tag} {{ '
        f'static constexpr const char* simt_name() {{ return "{name}"; }} '
        f"static constexpr const char* simt_where() {{ return __PRETTY_FUNCTION__; }} }}; "
        f"static {alias}& {name} __attribute__((unused)) = ::simt::SharedVariable<{alias}, {tag}>::storage.inner.value"
    )


def _rewrite_launches(source: str, text: str, templates: set[str], edits: list[tuple[int, int, str]]) -> None:
    for match in re.finditer(r"<<<", text):
        start = _expression_start(text, match.start())
        end = _configuration_end(text, match.end())
        if end < 0 or start == match.start():
            continue
        expression = source[start : match.start()].strip()
        name = re.split(r"[<\s]", expression)[0].split("::")[-1]
        macro = "SIMT_LAUNCH_TEMPLATE" if name in templates else "SIMT_LAUNCH"
        configuration = source[match.end() : end]
        edits.append((start, end + 3, f"{macro}(({expression}), {configuration})"))


def _configuration_end(text: str, i: int) -> int:
    while i < len(text):
        if text.startswith(">>>", i):
            return i
        if text[i] in "([{":
            i = closing(text, i)
            if i < 0:
                return -1
        i += 1
    return -1


def _expression_start(text: str, end: int) -> int:
    """Where the kernel expression in front of <<< begins: a name with scopes and template arguments, or parentheses."""
    i = end
    while i and text[i - 1].isspace():
        i -= 1
    if i and text[i - 1] == ">":
        depth = 0
        while i:
            i -= 1
            depth += (text[i] == ">") - (text[i] == "<")
            if not depth:
                break
        while i and text[i - 1].isspace():
            i -= 1
    if i and text[i - 1] == ")":
        depth = 0
        while i:
            i -= 1
            depth += (text[i] == ")") - (text[i] == "(")
            if not depth:
                return i
    while i and (text[i - 1].isalnum() or text[i - 1] in "_:.#"):
        i -= 1
    return i


def _rewrite_kernels(text: str, kernels: list[Definition], edits: list[tuple[int, int, str]]) -> None:
    names = [k.name for k in kernels]
    for kernel in kernels:
        for match in re.finditer(r"\breturn(?=\s*;)", text[kernel.body_start : kernel.body_end]):
            at = kernel.body_start + match.start()
            edits.append((at, at + 6, "SIMT_RETURN"))
        if not kernel.is_template and names.count(kernel.name) == 1:
            at = kernel.body_end + 1
            edits.append((at, at, f" SIMT_KERNEL_HERE({kernel.name})"))
