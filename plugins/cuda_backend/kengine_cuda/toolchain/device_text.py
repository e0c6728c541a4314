"""The device part of a source that holds host code too: what NVRTC can read. Lines keep their numbers."""

from __future__ import annotations

import functools
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
_TORCH = """#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_RESTRICT __restrict__
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__((threads), (blocks))
"""
_SCOPES = """namespace c10 {}
namespace at { using namespace c10; }
namespace torch { using namespace at; }
"""
_TRAITS = """namespace std {
template <bool, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { using type = T; };
template <bool condition, class T = void> using enable_if_t = typename enable_if<condition, T>::type;
template <class T> struct is_arithmetic { static constexpr bool value = false; };
#define KENGINE_X(T) template <> struct is_arithmetic<T> { static constexpr bool value = true; };
KENGINE_X(bool) KENGINE_X(char) KENGINE_X(signed char) KENGINE_X(unsigned char) KENGINE_X(short)
KENGINE_X(unsigned short) KENGINE_X(int) KENGINE_X(unsigned) KENGINE_X(long) KENGINE_X(unsigned long)
KENGINE_X(long long) KENGINE_X(unsigned long long) KENGINE_X(float) KENGINE_X(double)
#undef KENGINE_X
}
"""
_OPERATION_TYPES = """namespace at {
template <class T> struct OpMathType { using type = T; };
template <> struct OpMathType<c10::Half> { using type = float; };
template <> struct OpMathType<c10::BFloat16> { using type = float; };
template <class T> using opmath_type = typename OpMathType<T>::type;
template <class T, bool is_cuda> using acc_type = typename OpMathType<T>::type;
}
"""
_CLASH = re.compile(r"invalid redeclaration of type name \"u?int64_t\"")
PRELUDE = "kengine_prelude.h"
TORCH = "kengine_torch.h"
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
_FROM_TORCH = re.compile(r"\b(?:at|c10|torch)\s*::|\b(?:C10|AT)_[A-Z]")
_NARROW = re.compile(r"\b(?:Half|BFloat16|opmath_type|acc_type|OpMathType)\b")


def with_long_long(log: str) -> dict[str, str]:
    """The headers for a source that NVRTC refused because CUDA's own, which it includes, have the other integer of 64
    bits; {} when that is not why."""
    return {**HEADERS, PRELUDE: re.sub(r"\blong\b", "long long", _INTEGERS)} if _CLASH.search(log) else {}


def torch_header(text: str, instances: str) -> str:
    """What a source of an extension gets for the types of torch that it names in device code; "" where it names none:
    accessors, and the narrow floating-point types with what is computed in for them."""
    if not _FROM_TORCH.search(text + instances):
        return ""
    narrow = _NARROW.search(text + instances) is not None
    types = _TRAITS + _light("half.h") + _OPERATION_TYPES if narrow else ""
    return _TORCH + _SCOPES + _light("accessor.h") + types


@functools.cache
def _light(name: str) -> str:
    from kengine.extension.toolkit import ROOT

    return (ROOT / "light" / name).read_text(encoding="utf-8").replace("#pragma once", "")


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
