"""What a device source is made of: CUDA's spellings, host code beside the kernels, and the kernels without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kengine.simt.kernels import find_kernels
from kengine.simt.lexer import blank, closing, split_commas

_CUDA = re.compile(
    r"\bcuda(?:[A-Z]\w*|_\w+)|\b(?:__)?nv_\w+|\bCUDART_\w+|\bcu(?:rand|blas)[A-Z_]\w*|\bnvcuda::|\b__CUDA_ARCH__\b"
)
_CUDA_HEADER = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:cuda\w*|cooperative_groups|device_launch_parameters|math_constants|curand\w*"
    r"|mma)\.h",
    re.MULTILINE,
)
_DEVICE = re.compile(r"\b__(?:global|device|constant|shared|managed)__\b|\bconstexpr\b")
_HOST_TYPES = re.compile(r"\b(?:torch|at|c10|pybind11|py|std::vector|std::string|std::tuple)\b")
_HOST_HEADER = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10|pybind11|iostream|vector|string|fstream|sstream|chrono|map"
    r"|memory|random|thread|mutex|tuple|functional)[/.>\"][^\n]*",
    re.MULTILINE,
)
_LAUNCH = re.compile(r"([A-Za-z_][\w:]*)\s*(<(?:[^<>;{}]|<[^<>;{}]*>)*>)\s*(?:<<<|\)?\s*,)")


def is_cuda(text: str) -> bool:
    """Whether a source speaks CUDA: names or headers that HIP spells otherwise."""
    return _CUDA.search(blank(text)) is not None or _CUDA_HEADER.search(text) is not None


def needs_standard(text: str) -> bool:
    """Whether a source leans on the C++ library: names in std, or host code of its own."""
    code = blank(text)
    return re.search(r"\bstd\s*::", code) is not None or any(True for _ in _host_parts(code))


def has_host_code(text: str) -> bool:
    """Whether something in the source is for the host alone."""
    code = blank(text)
    return any(True for _ in _host_parts(code)) or _HOST_HEADER.search(text) is not None


def without_host(text: str) -> tuple[str, tuple[str, ...]]:
    """The source without its host code, lines kept, and the template instances that the host code launches.

    Instances whose arguments name types of the host code (`scalar_t` of a dispatch macro) are taken as float.
    """
    code = blank(text)
    parts = list(_host_parts(code))
    instances = _instances(code, [kernel.name for kernel in find_kernels(code) if kernel.is_template])
    out = list(text)
    for start, end in parts:
        for i in range(start, min(end, len(out))):
            if out[i] != "\n":
                out[i] = " "
    cut = _HOST_HEADER.sub(lambda match: " " * len(match.group(0)), "".join(out))
    return cut, instances


def with_instances(text: str, instances: Sequence[str]) -> str:
    """The source followed by a host function that names template kernels, so that the compiler makes them."""
    if not instances:
        return text
    uses = " ".join(f"(void)(void*)(&{name});" for name in instances)
    # The line number is beyond the source: an error there is not one of its lines.
    return f'{text}\n#line 1 "(instances)"\n__attribute__((used)) static void kengine_instances() {{ {uses} }}\n'


@dataclass(frozen=True)
class _Statement:
    """A declaration or definition at namespace scope: offsets of its head, and of its end."""

    start: int
    body: int
    end: int


def _host_parts(code: str) -> Iterator[tuple[int, int]]:
    """Spans of host functions, and of declarations of host types; `code` has its comments and literals blanked."""
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), code, flags=re.MULTILINE)
    for statement in _statements(code, 0, len(code)):
        head = code[statement.start : statement.body]
        whole = code[statement.start : statement.end]
        if _DEVICE.search(head):
            continue
        if statement.body < statement.end and code[statement.body] == "{":
            if re.search(r"\)[^)]*$", head) and not re.search(r"\b(?:struct|class|union|enum)\b[^()]*$", head):
                yield statement.start, statement.end
            elif _HOST_TYPES.search(whole) and not _DEVICE.search(whole):
                yield statement.start, statement.end
        elif _HOST_TYPES.search(whole) or re.search(r"\busing\s+namespace\s+(?:torch|at)\b", whole):
            yield statement.start, statement.end


def _statements(code: str, start: int, end: int) -> Iterator[_Statement]:
    """Statements at namespace scope; namespaces and linkage blocks are looked into."""
    at = head = start
    while at < end:
        c = code[at]
        if c == ";":
            yield _Statement(head, at, at + 1)
            head = at + 1
        elif c in "([":
            at = max(closing(code, at), at)
        elif c == "{":
            last = closing(code, at)
            if last < 0:
                return
            text = code[head:at]
            if re.search(r"(?:\bnamespace\b[\w:\s]*|\bextern\s*\"[^\"]*\"\s*)$", text):
                yield from _statements(code, at + 1, last)
            else:
                yield _Statement(head, at, last + 1)
            at, head = last, last + 1
        at += 1


def _instances(code: str, templates: Sequence[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    declared = set(re.findall(r"\b(?:typename|class)\s+(\w+)", code))
    for match in _LAUNCH.finditer(code):
        name, given = match.group(1), match.group(2)
        if name.split("::")[-1] not in templates:
            continue
        parts = [part.strip() for part in split_commas(given[1:-1])]
        fixed = ["float" if part in declared or part in ("scalar_t", "T", "acc_t") else part for part in parts]
        found.setdefault(f"{name}<{', '.join(fixed)}>")
    return tuple(found)
