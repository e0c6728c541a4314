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
_DISPATCHED = ("scalar_t", "acc_t", "T")
_TYPES = {
    **dict.fromkeys(("at::Half", "c10::Half", "half", "__half"), "__half"),
    **dict.fromkeys(("at::BFloat16", "c10::BFloat16", "__nv_bfloat16"), "__hip_bfloat16"),
}
_LAUNCH = re.compile(r"([A-Za-z_][\w:]*)\s*(<(?:[^<>;{}]|<[^<>;{}]*>)*>)\s*(?:<<<|\)?\s*,)")


def is_cuda(text: str) -> bool:
    """Whether a source speaks CUDA: names or headers that HIP spells otherwise."""
    return _CUDA.search(blank(text)) is not None or _CUDA_HEADER.search(text) is not None


def needs_standard(text: str) -> bool:
    """Whether a source leans on the C++ library: names in std, or host code of its own."""
    code = blank(text)
    return re.search(r"\bstd\s*::", code) is not None or any(True for _ in _host_parts(code))


def names_host(message: str) -> bool:
    """Whether a compiler's message is about a name of torch or another library of the host."""
    return re.search(r"'(?:torch|at|c10|pybind11|py)'", message) is not None


def has_host_code(text: str) -> bool:
    """Whether something in the source is for the host alone."""
    code = blank(text)
    return any(True for _ in _host_parts(code)) or _HOST_HEADER.search(text) is not None


@dataclass(frozen=True)
class DevicePart:
    """A source without its host code, lines kept. instances: of template kernels that the host code launches.
    unknown: template kernels whose instances the text does not show."""

    text: str
    instances: tuple[str, ...]
    unknown: tuple[str, ...]


def without_host(text: str) -> DevicePart:
    """The part of a source that a device compiler needs.

    A template argument that a dispatch macro decides (`scalar_t`) stands for each of the types that the macro names.
    """
    code = blank(text)
    out = list(text)
    for start, end in _host_parts(code):
        for i in range(start, min(end, len(out))):
            if out[i] != "\n":
                out[i] = " "
    cut = _HOST_HEADER.sub(lambda match: " " * len(match.group(0)), "".join(out))
    templates = [kernel.name for kernel in find_kernels(code) if kernel.is_template]
    instances = _instances(code, templates)
    made = {name.split("<")[0].split("::")[-1] for name in instances}
    bare = set(re.findall(r"\b(\w+)\s*<<<", code)) | set(re.findall(r"\bhipLaunchKernelGGL\s*\(\s*(\w+)\s*,", code))
    return DevicePart(cut, instances, tuple(name for name in templates if name not in made or name in bare))


def with_instances(text: str, instances: Sequence[str]) -> str:
    """The source followed by a host function that names template kernels, so that the compiler makes them."""
    if not instances:
        return text
    uses = " ".join(f"(void)(void*)(&{name});" for name in instances)
    header = "#include <hip/hip_bf16.h>\n" if re.search(r"__half|__hip_bfloat16", uses) else ""
    # The line number is beyond the source: an error there is not one of its lines.
    function = f"__attribute__((used)) static void kengine_instances() {{ {uses} }}"
    return f'{text}\n{header}#line 1 "(instances)"\n{function}\n'


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
            is_type = re.search(r"\b(?:struct|class|union|enum)\b[^()]*$", head)
            is_function = re.search(r"\)[^)]*$", head) and not is_type
            if is_function or (_HOST_TYPES.search(whole) and not _DEVICE.search(whole)):
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
    declared = {*re.findall(r"\b(?:typename|class)\s+(\w+)", code), *_DISPATCHED}
    for match in _LAUNCH.finditer(code):
        name, given = match.group(1), match.group(2)
        if name.split("::")[-1] not in templates:
            continue
        parts = [_TYPES.get(part.strip(), part.strip()) for part in split_commas(given[1:-1])]
        for kind in _dispatched_types(code) if any(part in declared for part in parts) else ("",):
            found.setdefault(f"{name}<{', '.join(kind if part in declared else part for part in parts)}>")
    return tuple(found)


def _dispatched_types(code: str) -> tuple[str, ...]:
    """The types that the dispatch macros of a source name; float where there are none."""
    macros = " ".join(re.findall(r"\bAT_DISPATCH_\w+\s*\([^{;]*", code))
    types = ["float"]
    if "AT_DISPATCH_FLOATING" in macros or "AT_DISPATCH_ALL" in macros:
        types.append("double")
    if re.search(r"_AND_HALF|\b(?:kHalf|Half)\b", macros):
        types.append("__half")
    if re.search(r"\b(?:kBFloat16|BFloat16)\b", macros):
        types.append("__hip_bfloat16")
    return tuple(types)
