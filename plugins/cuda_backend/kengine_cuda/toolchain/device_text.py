"""The device part of a source that holds host code too: what NVRTC can read. Lines keep their numbers."""

from __future__ import annotations

import re

from kengine.simt.lexer import blank, closing

_HOST_HEADERS = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*<(?:torch/|ATen/|c10/|pybind11/|Python\.h|vector|string|iostream|sstream|fstream|"
    r"memory|chrono|thread|mutex|map|unordered_map|set|functional|stdexcept|cstdlib|stdlib\.h|cassert|assert\.h|"
    r"iomanip|random|cuda_runtime_api\.h|cuda_profiler_api\.h|cuda\.h|cublas_v2\.h|time\.h|ctime|cstring|string\.h)"
    r"[^\n]*$",
    re.MULTILINE,
)
_FLOAT = """#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define DBL_EPSILON 2.2204460492503131e-16
"""
_LIMITS = """#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
"""
_INTEGERS = """typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
"""
PRELUDE = "kengine_prelude.h"
HEADERS = {
    **dict.fromkeys(("stdint.h", "cstdint", "stddef.h", "cstddef", "stdio.h", "cstdio", "math.h", "cmath"), ""),
    **dict.fromkeys(("float.h", "cfloat"), _FLOAT),
    **dict.fromkeys(("limits.h", "climits"), _LIMITS),
    "algorithm": "",
    "limits": "#include <cuda/std/limits>\nnamespace std { using cuda::std::numeric_limits; }\n",
    "type_traits": "#include <cuda/std/type_traits>\nnamespace std { using namespace cuda::std; }\n",
    "utility": "#include <cuda/std/utility>\nnamespace std { using namespace cuda::std; }\n",
    PRELUDE: _INTEGERS,
}
"""Headers that are found although NVRTC has none, as far as device code needs them."""

_DEVICE = re.compile(r"__(?:global|device|constant|managed|host)__")
_SCOPE = re.compile(r"(?:\bnamespace\b[\w:\s]*|\bextern\s*\"[^\"]*\"\s*)$")


def device_part(source: str) -> str:
    """The source with host functions and headers of the host turned to blanks."""
    out = _HOST_HEADERS.sub(lambda m: " " * len(m[0]), source)
    text = blank(out)
    pieces = list(out)
    for start, end in _host_functions(text, 0, len(text)):
        for i in range(start, end):
            if pieces[i] != "\n":
                pieces[i] = " "
    return "".join(pieces)


def _host_functions(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Places of functions with a body and without a word for the device, through namespaces."""
    found: list[tuple[int, int]] = []
    head, i = start, start
    while i < end:
        c = text[i]
        if c == "#" and text[text.rfind("\n", 0, i) + 1 : i].strip() == "":
            while (newline := text.find("\n", i)) >= 0 and text[newline - 1] == "\\":
                i = newline + 1
            i = newline if newline >= 0 else end
            head = i + 1
        elif c == ";":
            if re.search(r"\b(?:torch|at|c10|std::vector|std::string)\b", text[head:i]) and "(" in text[head:i]:
                found.append((head, i + 1))
            head = i + 1
        elif c == "(":
            i = max(i, closing(text, i))
        elif c == "{":
            close = closing(text, i)
            close = end if close < 0 else close
            before = text[head:i]
            if _SCOPE.search(before):
                found += _host_functions(text, i + 1, close)
            elif _is_host_function(before):
                found.append((head, close + 1))
            i = close
            if not re.search(r"\b(?:struct|class|union|enum)\b[^()]*$", before) and "=" not in before:
                head = i + 1
        i += 1
    return found


def _is_host_function(head: str) -> bool:
    is_function = re.search(r"\)\s*(?:const|noexcept|->[\w:<>\s]+|:[^:].*)?\s*$", head, re.DOTALL) is not None
    if not is_function or "=" in head.split("(")[0]:
        return False
    return not _DEVICE.search(head) and re.search(r"\bconstexpr\b", head) is None
