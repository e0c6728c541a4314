"""How a value of each annotation that a record may have is written as JSON and read back, checked both ways.

`kengine.codec` is the face of this; `kengine.schema` describes the same annotations for other languages.
"""

from __future__ import annotations

import dataclasses
import difflib
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache, lru_cache
from math import isfinite
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from kengine.errors import UsageError
from kengine.target import Target

INT_MIN, INT_MAX = -(1 << 63), (1 << 64) - 1
"""Bounds of an integer in a record: anything that fits int64 or uint64."""


class Codec(NamedTuple):
    """How one annotation is written and read; both raise `Wrong`, which collects the path on its way out."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


class Json:
    """Stands for the annotation JsonValue, which refers to itself and is no type that could be inspected."""


@cache
def fields_of(record: Any) -> Mapping[str, tuple[Any, bool]]:
    """Annotation of each field of a record type, and whether the field must be given."""
    hints = get_type_hints(record, localns={"JsonValue": Json})
    missing = dataclasses.MISSING
    return {
        f.name: (hints[f.name], f.default is missing and f.default_factory is missing)
        for f in dataclasses.fields(record)
    }


@cache
def codec_of(hint: Any) -> Codec:
    """Codec of an annotation. Raises TypeError for one that records may not have."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    origin = get_origin(hint)
    args = get_args(hint)
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        return _tuple_codec(codec_of(args[0]))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping) and args[0] is str:
        return _mapping_codec(codec_of(args[1]))
    if origin is Literal and all(type(a) is str for a in args):
        return _choice_codec({a: a for a in args}, {a: a for a in args})
    if origin in (Union, types.UnionType):
        inner = [a for a in args if a is not type(None)]
        if len(inner) == 1 and len(args) == 2:
            return _optional_codec(codec_of(inner[0]))
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice_codec({m: m.value for m in hint}, {m.value: m for m in hint}, hint)
    if dataclasses.is_dataclass(hint):
        return _record_codec(hint)
    raise TypeError(f"a record cannot have a field of type {hint!r}")


class Wrong(Exception):
    """A value does not match; `parts` is the path, innermost first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.parts: list[str] = []


_JSON_NAMES: Mapping[type, str] = {type(None): "null", dict: "object", list: "array"}


def kind_of(value: object) -> str:
    """Name of a value's type for an error: of JSON where it has one, and with its module where that is not known."""
    kind = type(value)
    if kind in _JSON_NAMES:
        return _JSON_NAMES[kind]
    known = kind.__module__ == "builtins" or kind.__module__.startswith("kengine.")
    return kind.__name__ if known else f"{kind.__module__}.{kind.__name__}"


def show(value: object) -> str:
    return f"{value[:80]!r}" if type(value) is str else kind_of(value)


def _exactly(kind: type) -> Codec:
    def check(value: Any) -> Any:
        if type(value) is kind:
            return value
        raise Wrong(f"want {kind.__name__}, got {kind_of(value)}")

    return Codec(check, check)


def _check_int(value: Any) -> int:
    if type(value) is not int:
        raise Wrong(f"want int, got {kind_of(value)}")
    if not INT_MIN <= value <= INT_MAX:
        raise Wrong("want an int of at most 64 bits, got a larger one")
    return value


def _check_float(value: Any) -> float:
    if type(value) is float:
        if isfinite(value):
            return value
        raise Wrong(f"want a finite float, got {value}")
    if type(value) is int:
        if abs(value) <= INT_MAX and int(float(value)) == value:
            return float(value)
        raise Wrong("want float, got an int that no float holds exactly")
    raise Wrong(f"want float, got {kind_of(value)}")


def _json(sequences: tuple[type, ...], build: Callable[[list[Any]], Any]) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return _check_int(value)
        if kind is float:
            return _check_float(value)
        if kind in sequences:
            return build(_each(value, convert))
        if kind is dict or isinstance(value, Mapping):
            return _entries(value, convert)
        raise Wrong(f"want a JSON value, got {kind_of(value)}")

    return convert


def _each(values: Any, convert: Callable[[Any], Any]) -> list[Any]:
    result: list[Any] = []
    try:
        for value in values:
            result.append(convert(value))
    except Wrong as wrong:
        wrong.parts.append(f"[{len(result)}]")
        raise
    return result


def _entries(values: Mapping[Any, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    key: Any = None
    try:
        for key, value in values.items():
            if type(key) is not str:
                raise Wrong(f"want str for a key, got {kind_of(key)}")
            result[key] = convert(value)
    except Wrong as wrong:
        wrong.parts.append(f"[{key!r}]")
        raise
    return result


def _tuple_codec(item: Codec) -> Codec:
    encode_item, decode_item = item

    def encode(value: Any) -> Any:
        if type(value) is not tuple:
            raise Wrong(f"want tuple, got {kind_of(value)}")
        return _each(value, encode_item)

    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise Wrong(f"want array, got {kind_of(value)}")
        return tuple(_each(value, decode_item))

    return Codec(encode, decode)


def _mapping_codec(item: Codec) -> Codec:
    encode_item, decode_item = item

    def encode(value: Any) -> Any:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise Wrong(f"want mapping, got {kind_of(value)}")
        return _entries(value, encode_item)

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise Wrong(f"want object, got {kind_of(value)}")
        return _entries(value, decode_item)

    return Codec(encode, decode)


def _optional_codec(item: Codec) -> Codec:
    encode_item, decode_item = item
    return Codec(
        lambda value: None if value is None else encode_item(value),
        lambda value: None if value is None else decode_item(value),
    )


def _choice_codec(written: Mapping[Any, str], read: Mapping[str, Any], enum: type | None = None) -> Codec:
    names = ", ".join(repr(name) for name in read)
    stored = enum or str

    def encode(value: Any) -> Any:
        if type(value) is not stored:
            raise Wrong(f"want {stored.__name__}, got {kind_of(value)}")
        if value not in written:
            raise Wrong(f"want one of {names}, got {show(value)}")
        return written[value]

    def decode(value: Any) -> Any:
        if type(value) is not str or value not in read:
            raise Wrong(f"want one of {names}, got {show(value)}")
        return read[value]

    return Codec(encode, decode)


def _encode_target(value: Any) -> str:
    if type(value) is not Target:
        raise Wrong(f"want Target, got {kind_of(value)}")
    text = str(value)
    _read_target(text)  # a target can be made of parts that no text gives
    return text


def _decode_target(value: Any) -> Target:
    if type(value) is not str:
        raise Wrong(f"want str, got {kind_of(value)}")
    return _read_target(value)


@lru_cache(1024)
def _read_target(text: str) -> Target:
    try:
        return Target.parse(text)
    except UsageError as error:
        raise Wrong(str(error)) from None


def _record_codec(record: Any) -> Codec:
    fields = fields_of(record)
    encoders = [(name, codec_of(hint).encode) for name, (hint, _) in fields.items()]
    decoders = [(name, codec_of(hint).decode, needed) for name, (hint, needed) in fields.items()]

    def encode(value: Any) -> Any:
        if type(value) is not record:
            raise Wrong(f"want {record.__name__}, got {kind_of(value)}")
        result = {}
        name = ""
        try:
            for name, encode_field in encoders:
                result[name] = encode_field(getattr(value, name))
        except Wrong as wrong:
            wrong.parts.append(f".{name}")
            raise
        return result

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise Wrong(f"want object, got {kind_of(value)}")
        given = {}
        name = ""
        try:
            for name, decode_field, needed in decoders:
                if name in value:
                    given[name] = decode_field(value[name])
                elif needed:
                    raise Wrong("missing, and it has no default")
        except Wrong as wrong:
            wrong.parts.append(f".{name}")
            raise
        if len(given) != len(value):
            raise Wrong(_unknown(next(key for key in value if key not in given), fields))
        try:
            return record(**given)
        except UsageError as error:  # a record may check its values when it is made
            raise Wrong(str(error)) from None

    return Codec(encode, decode)


def _unknown(key: object, fields: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(key), fields, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known keys: {', '.join(fields)}"
    return f"unknown key {str(key)[:80]!r} ({hint})"


_SCALARS: Mapping[Any, Codec] = {
    str: _exactly(str),
    bool: _exactly(bool),
    int: Codec(_check_int, _check_int),
    float: Codec(_check_float, _check_float),
    Target: Codec(_encode_target, _decode_target),
    Json: Codec(_json((tuple, list), list), _json((list,), tuple)),
}
