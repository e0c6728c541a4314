"""C++ code computes on the processor.

What it does:
Finds host functions that fetch data from the device (`.cpu()`, `torch::kCPU`, a copy from device to host), themselves
or by a helper or a constructor, and then loop over it, or use Eigen, MKL or OpenMP.

Why is this bad:
The processor does what the kernel was asked for. It is a warning: reading one number back is honest, and so is working
out offsets. Matrix products of a library, and loops that read and write arrays of floating-point numbers after such a
fetch, are rejected.

Example:
    auto h = x.cpu();
    for (int i = 0; i < n; ++i) h.data_ptr<float>()[i] *= 2;
    return h.cuda();

Use instead:
    A kernel.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kengine.lint.cpp.sources import Native, find_native
from kengine.lint.rule import ALL, Context, Hit, Rule, Severity
from kengine.lint.source import SourceTree

_FETCHES = frozenset({"kCPU", "cudaMemcpyDeviceToHost", "hipMemcpyDeviceToHost", "cuMemcpyDtoH_v2", "cuMemcpyDtoH"})
_LIBRARIES = frozenset({"Eigen", "omp_get_num_threads", "parallel_for"})
_PRODUCTS = re.compile(r"(?:cblas_)?[sdcz](?:gemm|gemv|ger|syrk|symm)(?:_64)?_?$")
_LOOPS = frozenset(
    {"for", "while", "transform", "accumulate", "inner_product", "partial_sum", "reduce", "transform_reduce",
     "inclusive_scan", "exclusive_scan", "for_each", "generate"}
)  # fmt: skip
_FLOATS = frozenset({"float", "double", "Half", "half", "__half", "BFloat16", "__nv_bfloat16", "scalar_t"})
_WRITES = frozenset({"=", "+=", "-=", "*=", "/="})


def check(source: SourceTree, context: Context) -> Iterator[Hit]:
    """Look at host functions that can be called."""
    native = find_native(source)
    own = {function.name for cpp in native.sources for function in cpp.unit.functions}
    fetching = _fetching(native)
    for cpp in native.sources:
        for function in cpp.unit.functions:
            if function.is_kernel or function.is_device or function.name not in native.reached:
                continue
            words = cpp.unit.tokens[slice(*function.body)]
            texts = [t.text if t.kind != "str" else "" for t in words]
            fetched = _find_fetch(texts)
            asked = next((i for i, text in enumerate(texts) if text in fetching and text != function.name), -1)
            calls = (i for i, text in enumerate(texts) if text not in own)
            library = next((i for i in calls if texts[i] in _LIBRARIES or _PRODUCTS.match(texts[i])), -1)
            if library >= 0 and _PRODUCTS.match(texts[library]):
                what = f"{function.name!r} multiplies on the host, with {texts[library]}"
                yield cpp.hit(function.body[0] + library, what, "reject")
            elif fetched >= 0 and any(text in _LOOPS for text in texts[fetched:]):
                severity: Severity = "reject" if _computes(texts, fetched) else "warn"
                what = f"{function.name!r} fetches data and loops over it on the host"
                yield cpp.hit(function.body[0] + fetched, what, severity)
            elif asked >= 0 and any(text in _LOOPS for text in texts[asked:]):
                what = f"{function.name!r} has {texts[asked]!r} fetch data and loops over it on the host"
                yield cpp.hit(function.body[0] + asked, what)
            elif library >= 0:
                yield cpp.hit(function.body[0] + library, f"{function.name!r} computes on the host")


def _fetching(native: Native) -> frozenset[str]:
    """Functions of the host, constructors among them, that fetch data and do not loop over it themselves."""
    found = set()
    for cpp in native.sources:
        for function in cpp.unit.functions:
            texts = [t.text if t.kind != "str" else "" for t in cpp.unit.tokens[slice(*function.body)]]
            if not (function.is_kernel or function.is_device) and _find_fetch(texts) >= 0:
                found.add(function.name)
    return frozenset(found)


def _find_fetch(texts: list[str]) -> int:
    """Where data is fetched, -1 where none is."""
    return next((i for i, text in enumerate(texts) if text in _FETCHES or _is_cpu(texts, i)), -1)


def _is_cpu(texts: list[str], at: int) -> bool:
    return texts[at] == "cpu" and at > 0 and texts[at - 1] == "."


def _computes(texts: list[str], fetched: int) -> bool:
    """Whether data is fetched, not just made on the host, and a loop then reads and writes floating-point arrays."""
    if texts[fetched] == "kCPU" and "to" not in texts[max(0, fetched - 6) : fetched]:
        return False
    arrays = _float_arrays(texts)
    start = next((i for i in range(fetched, len(texts)) if texts[i] in _LOOPS), len(texts))
    reads = writes = False
    for at in range(start, len(texts) - 1):
        direct = (
            texts[at] == ")" and texts[at - 3] in _FLOATS and texts[at - 4 : at - 3] == ["<"]
        )  # data_ptr<float>()[i]
        if (texts[at] in arrays or direct) and texts[at + 1] == "[":
            end = _closing(texts, at + 1)
            after = texts[end + 1] if end + 1 < len(texts) else ""
            writes = writes or after in _WRITES
            reads = reads or after != "="
    return reads and writes


def _float_arrays(texts: list[str]) -> set[str]:
    """Names of pointers and vectors of floating-point numbers in a function."""
    found: set[str] = set()
    for at, text in enumerate(texts):
        if text not in _FLOATS:
            continue
        end = next((i for i in range(at, len(texts)) if texts[i] in (";", "{")), len(texts))
        begin = max((i for i in range(at) if texts[i] in (";", "{", "}")), default=-1) + 1
        before = texts[at - 1] if at else ""
        if before == "<" and texts[at + 1 : at + 2] == [">"]:  # data_ptr<float>(), vector<float>, accessor<float, 2>
            holder = texts[at - 2] if at > 1 else ""
            if holder in ("vector", "array", "unique_ptr"):
                found |= set(_declared(texts[at + 2 : end]))
            elif "=" in texts[begin:at]:
                found.add(texts[begin + texts[begin:at].index("=") - 1])
        elif before != "<" and "*" in texts[at + 1 : at + 3]:
            found |= set(_declared([w for w in texts[at + 1 : end] if w not in ("*", "const", "__restrict__")]))
    return found


def _declared(words: list[str]) -> Iterator[str]:
    """Names that a list of declarators introduces, initialisers left out."""
    depth, expected = 0, True
    for word in words:
        if expected and word.isidentifier():
            yield word
            expected = False
        depth += (word in "([{") - (word in ")]}") if word else 0
        expected = expected or (word == "," and depth == 0)


def _closing(texts: list[str], opening: int) -> int:
    depth = 0
    for at in range(opening, len(texts)):
        depth += (texts[at] == "[") - (texts[at] == "]")
        if depth == 0:
            return at
    return len(texts) - 1


RULE = Rule("KE405", "native-host-work", "warn", check, __doc__, ALL)
