"""The outputs as a runner describes them: read as hostile data, then held against the form of the expected answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from kengine.array import ITEMSIZE
from kengine.judge.leaves import is_array
from kengine.model import TensorSpec

MAX_DEPTH = 16
MAX_NODES = 10_000
MAX_RANK = 32
MAX_TEXT = 400


class Malformed(Exception):
    """A description that no honest runner sends; the candidate tampered with the channel."""


@dataclass(frozen=True)
class ArrayOut:
    """One array that a candidate returned, as it is described, and the sink that holds its bytes (None: too large)."""

    spec: TensorSpec
    type: str
    device: str
    alias: str
    sink: int | None


@dataclass(frozen=True)
class OtherOut:
    """Something that is neither array nor number; `type` is its full name."""

    type: str


@dataclass(frozen=True)
class DtypeOut:
    """A dtype object of a framework."""

    name: str


def read_outputs(outputs: Any, sinks: int) -> tuple[list[Any], list[ArrayOut]]:
    """Read a list of output trees into nested values with `ArrayOut` leaves, and the arrays depth first.

    Raises Malformed for unknown kinds and keys, wrong JSON types, sizes that are negative or absurd, and sinks that
    do not exist or stand at the wrong place.
    """
    if type(outputs) is not list:
        raise Malformed(f"outputs are a {type(outputs).__name__}, not a list")
    reader = _Reader(sinks)
    values = [reader.read(item, 0) for item in outputs]
    return values, reader.arrays


class _Reader:
    def __init__(self, sinks: int) -> None:
        self.sinks = sinks
        self.nodes = 0
        self.arrays: list[ArrayOut] = []

    def read(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH or self.nodes > MAX_NODES:
            raise Malformed("outputs are nested too deeply or have too many parts")
        if type(node) is not dict:
            raise Malformed(f"an output is a {type(node).__name__}, not an object")
        kind = node.get("k")
        if kind == "array":
            return self._array(node)
        if kind in ("list", "tuple"):
            items = _only(node, "items", list)
            read = [self.read(item, depth + 1) for item in items]
            return read if kind == "list" else tuple(read)
        if kind == "dict":
            entries = _only(node, "items", dict)
            return {key: self.read(item, depth + 1) for key, item in entries.items()}
        if kind == "other":
            return OtherOut(_text(_only(node, "type", str)))
        if kind == "value":
            return _scalar(_only(node, "v", object))
        if kind == "float":
            name = _only(node, "v", str)
            if name not in ("nan", "inf", "-inf"):
                raise Malformed(f"a float output has the value {name[:40]!r}")
            return float(name)
        if kind == "complex":
            parts = _only(node, "v", list)
            if len(parts) != 2 or not all(type(p) in (int, float) for p in parts):
                raise Malformed("a complex output does not have two numbers")
            return complex(float(parts[0]), float(parts[1]))
        if kind == "dtype":
            return DtypeOut(_text(_only(node, "v", str)))
        raise Malformed(f"an output has the unknown kind {str(kind)[:40]!r}")

    def _array(self, node: dict[str, Any]) -> ArrayOut:
        if not {"k", "spec", "sink"} <= set(node) <= {"k", "spec", "type", "device", "alias", "sink"}:
            raise Malformed(f"an array output has the keys {sorted(map(str, node))[:12]}")
        position = len(self.arrays)
        sink = node["sink"]
        if sink is not None and (type(sink) is not int or sink != position or sink >= self.sinks):
            raise Malformed(f"array output {position} names sink {str(sink)[:40]} of {self.sinks}")
        strings = [node.get(key, "") for key in ("type", "device", "alias")]
        if not all(type(s) is str for s in strings):
            raise Malformed("an array output has a type, device or alias that is no string")
        spec = _spec(node["spec"])
        if sink is not None and spec.dtype not in ITEMSIZE:
            raise Malformed(f"array output {position} of dtype {spec.dtype!r} cannot lie in a sink")
        kind, device, alias = (_text(s) for s in strings)
        self.arrays.append(ArrayOut(spec, kind, device, alias, sink))
        return self.arrays[-1]


def _only(node: dict[str, Any], key: str, kind: type) -> Any:
    if set(node) != {"k", key} or not isinstance(node[key], kind):
        raise Malformed(f"an output of kind {node['k']!r} has the keys {sorted(map(str, node))[:12]}")
    return node[key]


def _scalar(value: Any) -> Any:
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float and math.isfinite(value):
        return value
    raise Malformed(f"a value output is a {type(value).__name__}")


def _text(value: str) -> str:
    return value[:MAX_TEXT]


def _spec(value: Any) -> TensorSpec:
    if type(value) is not dict or not {"dtype", "shape"} <= set(value) <= {"dtype", "shape", "strides", "offset"}:
        raise Malformed("an array output has no spec of dtype, shape and strides")
    dtype = value["dtype"]
    if type(dtype) is not str:
        raise Malformed("an array output has a dtype that is no string")
    shape = _integers(value["shape"], "shape", 0)
    strides = _integers(value.get("strides", []), "strides", -(1 << 62))
    offset = value.get("offset", 0)
    if type(offset) is not int or not 0 <= offset < 1 << 62:
        raise Malformed("an array output has an offset that is no size")
    if strides and len(strides) != len(shape):
        raise Malformed(f"an array output of {len(shape)} dimensions has {len(strides)} strides")
    if prod(shape) >= 1 << 62:
        raise Malformed("an array output is larger than any memory")
    return TensorSpec(dtype[:40], shape, strides, offset)


def _integers(value: Any, name: str, low: int) -> tuple[int, ...]:
    if type(value) is not list or len(value) > MAX_RANK:
        raise Malformed(f"the {name} of an array output is not a short list")
    if not all(type(n) is int and low <= n < 1 << 62 for n in value):
        raise Malformed(f"the {name} of an array output holds something that is no size")
    return tuple(value)


@dataclass(frozen=True)
class Form:
    """What one expected array looks like: spec as the reference returned it, framework, kind of device.

    anywhere: where a device is only pretended, it may as well be in the host's memory.
    """

    spec: TensorSpec
    torch: bool
    device: str
    any_type: bool = False
    anywhere: bool = False


def mismatch(expected: Sequence[Any], actual: Sequence[Any]) -> str:
    """Hold nested outputs (leaves `ArrayOut`) against nested expectations (leaves `Form`); "" or what differs first."""
    if len(expected) != len(actual):
        return f"{_count(len(actual))} came back, expected {_count(len(expected))}"
    for n, (want, have) in enumerate(zip(expected, actual)):
        problem = _differs(want, have, f"output {n}" if len(expected) > 1 else "the output")
        if problem:
            return problem
    return ""


def in_order(expected: Sequence[Any], actual: Sequence[Any]) -> list[ArrayOut]:
    """The arrays of outputs that match, in the order of the expectations: keys of a dict may come in any order."""
    return [a for want, have in zip(expected, actual) for a in _ordered(want, have)]


def _ordered(want: Any, have: Any) -> list[ArrayOut]:
    if isinstance(have, ArrayOut):
        return [have]
    if isinstance(want, Mapping):
        return in_order(list(want.values()), [have[k] for k in want])
    return in_order(want, have) if isinstance(want, (list, tuple)) else []


def _count(n: int) -> str:
    return "1 output" if n == 1 else f"{n} outputs"


def _differs(want: Any, have: Any, where: str) -> str:
    if isinstance(want, Form):
        return _array_differs(want, have, where)
    if isinstance(want, Mapping):
        if not isinstance(have, dict):
            return f"{where} is {_name(have)}, expected a dict"
        if set(want) != set(have):
            return f"{where} has the keys {sorted(have)[:10]}, expected {sorted(want)[:10]}"
        return next((p for k in want if (p := _differs(want[k], have[k], f"{where}[{k!r}]"))), "")
    if isinstance(want, (list, tuple)):
        kind: type = list if isinstance(want, list) else tuple
        if not isinstance(have, (list, tuple)) or not isinstance(have, kind):
            return f"{where} is {_name(have)}, expected a {kind.__name__} of {len(want)}"
        if len(want) != len(have):
            return f"{where} is a {kind.__name__} of {len(have)}, expected {len(want)}"
        return next((p for n, (w, h) in enumerate(zip(want, have)) if (p := _differs(w, h, f"{where}[{n}]"))), "")
    if type(want) is not type(have):
        return f"{where} is {_name(have)}, expected {_name(want)}"
    return ""


def _array_differs(want: Form, have: Any, where: str) -> str:
    kind = "torch.Tensor" if want.torch else "numpy.ndarray"
    if not isinstance(have, ArrayOut):
        return f"{where} is {_name(have)}, expected a {kind} {want.spec.dtype}{list(want.spec.shape)}"
    if not _same_type(want, have):
        return f"{where} is a {have.type}, expected a plain {kind}"
    if have.spec.shape != want.spec.shape:
        return f"{where} has shape {list(have.spec.shape)}, expected {list(want.spec.shape)}"
    if have.spec.dtype != want.spec.dtype:
        return f"{where} has dtype {have.spec.dtype}, expected {want.spec.dtype}"
    if have.device == "host":
        if not want.anywhere:
            return f"{where} is in the host's memory (a CPU tensor), expected on the device where the inputs are"
    elif have.device and have.device.partition(":")[0] != want.device:
        return f"{where} lives on {have.device}, expected {want.device}"
    return _strides_differ(want.spec, have.spec, where)


def _same_type(want: Form, have: ArrayOut) -> bool:
    if want.any_type:
        return True
    if want.torch:
        return have.type in ("torch.Tensor", "")
    if have.type in ("numpy.ndarray", "cupy.ndarray", ""):
        return True
    return not want.spec.shape and have.type.startswith("numpy.")


def _strides_differ(want: TensorSpec, have: TensorSpec, where: str) -> str:
    """Any strides that give each element a place of its own: a view of a padded or transposed buffer is honest."""
    shape = want.shape
    if not have.strides or prod(shape) == 0:
        return ""
    reach = 0
    for step, n in sorted((abs(s), n) for s, n in zip(have.strides, shape) if n > 1):
        if step == 0:
            return f"{where} is expanded (strides {list(have.strides)}): several elements are one place in memory"
        if step <= reach and list(have.strides) != list(want.strides):
            return f"{where} overlaps itself (strides {list(have.strides)}): several elements are one place in memory"
        reach += step * (n - 1)
    return ""


def _name(value: Any) -> str:
    if isinstance(value, ArrayOut):
        return f"an array {value.spec.dtype}{list(value.spec.shape)}"
    if isinstance(value, OtherOut):
        return f"a {value.type}"
    if isinstance(value, DtypeOut):
        return f"the dtype {value.name}"
    if value is None:
        return "None"
    return f"a {type(value).__name__}"


def fill(value: Any, forms: Any) -> Any:
    """A nested value with the next of some forms in the place of each array."""
    if is_array(value):
        return next(forms)
    if isinstance(value, dict):
        return {k: fill(v, forms) for k, v in value.items()}
    if isinstance(value, list):
        return [fill(v, forms) for v in value]
    if isinstance(value, tuple):
        return tuple(fill(v, forms) for v in value)
    return value


def untyped(value: Any) -> Any:
    """A written input comes back from borrowed memory, in whatever framework the runner reads that with."""
    return replace(value, any_type=True) if isinstance(value, Form) else value
