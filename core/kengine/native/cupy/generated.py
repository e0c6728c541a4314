"""What ElementwiseKernel and ReductionKernel have in common: parameter lists, types, and arguments made ready."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kengine.native.cupy import refuse
from kengine.native.cupy.arrays import ndarray

CPP_TYPES = {
    "bool": "bool", "int8": "signed char", "int16": "short", "int32": "int", "int64": "long long",
    "uint8": "unsigned char", "uint16": "unsigned short", "uint32": "unsigned int", "uint64": "unsigned long long",
    "float16": "__half", "float32": "float", "float64": "double",
}  # fmt: skip
_WORD = re.compile(r"(?P<raw>raw\s+)?(?P<type>\w+)\s+(?P<name>\w+)\Z")


@dataclass(frozen=True)
class Parameter:
    """One entry of a parameter list: `raw T x`. dtype: "" for a type variable such as T, which `type` names."""

    name: str
    type: str
    dtype: str
    raw: bool


def read_parameters(text: str) -> tuple[Parameter, ...]:
    """Read a list such as `float32 x, raw T y`. Raises ValueError for one that makes no sense."""
    found = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        match = _WORD.match(re.sub(r"^(const|_non_atomic)\s+", "", part))
        if match is None:
            raise ValueError(f"Parameter declaration is invalid: {part!r}")
        kind = match["type"]
        dtype = "" if len(kind) == 1 else np.dtype(kind).name
        if dtype and dtype not in CPP_TYPES:
            raise refuse(f"the dtype {dtype} in a generated kernel")
        found.append(Parameter(match["name"], kind, dtype, match["raw"] is not None))
    return tuple(found)


def bind_types(parameters: Sequence[Parameter], values: Sequence[Any], bound: dict[str, str]) -> None:
    """Bind type variables to the dtypes of arguments. Raises TypeError when one has two."""
    for parameter, value in zip(parameters, values):
        if value is None or parameter.dtype or not isinstance(value, (np.ndarray, np.generic)):
            continue
        known = bound.setdefault(parameter.type, value.dtype.name)
        if known != value.dtype.name:
            raise TypeError(f"Type is mismatched. {parameter.name} {value.dtype.name} {known}")
    for parameter, value in zip(parameters, values):
        if value is not None and not parameter.dtype and not isinstance(value, (np.ndarray, np.generic)):
            bound.setdefault(parameter.type, np.asarray(value).dtype.name)


def dtype_of(parameter: Parameter, bound: Mapping[str, str]) -> str:
    """The dtype of a parameter. Raises ValueError for a type variable that nothing binds."""
    dtype = parameter.dtype or bound.get(parameter.type, "")
    if not dtype:
        raise ValueError(f"type variable {parameter.type!r} of {parameter.name!r} is not bound by any input")
    if dtype not in CPP_TYPES:
        raise refuse(f"the dtype {dtype} in a generated kernel")
    return dtype


def check_array(value: Any, name: str) -> Any:
    """An argument: an array of the facade or a number. Raises TypeError for what is on the host."""
    if value is None or isinstance(value, (ndarray, bool, int, float, np.generic)):
        return value
    raise TypeError(f"Unsupported type {type(value)} for argument {name!r}")


def prelude(parameters: Sequence[Parameter], bound: Mapping[str, str]) -> str:
    """What stands in front of a generated kernel: headers, type variables, and pointers that are called raw."""
    lines = ["#include <cuda_fp16.h>"] if "float16" in {dtype_of(p, bound) for p in parameters} else []
    lines += [f"typedef {CPP_TYPES[dtype]} {name};" for name, dtype in bound.items() if dtype in CPP_TYPES]
    lines += [
        "template <typename V> struct _RawArray {", "  V* _data; long long _size;",
        "  __device__ V& operator[](long long i) const { return _data[i]; }",
        "  __device__ long long size() const { return _size; }", "};",
    ]  # fmt: skip
    return "\n".join(lines)
