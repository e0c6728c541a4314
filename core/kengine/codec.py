"""Strict JSON for the frozen records: what was written reads back equal, and anything else is refused with its path.

Each field is checked against its annotation in both directions: no NaN or infinity, no unknown key, no missing key
that has no default, no int for a bool, no float for an int. A float field takes an int that it can hold exactly,
because JSON writers turn 1.0 into 1. Integers have at most 64 bits. Targets are written as `BACKEND:ARCH`, enums as
their value, tuples as arrays. An error starts with the path: `LintRecord.findings[0].line: want int, got float`.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
import re
import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from kengine.errors import UsageError
from kengine.target import Target

T = TypeVar("T")

INT_MIN, INT_MAX = -(1 << 63), (1 << 64) - 1
"""Bounds of an integer in a record: anything that fits int64 or uint64."""

VERSIONS: Mapping[str, int] = {}
"""Schema number of each record whose number is not 1, by class name. A new optional field keeps the number."""


class CodecError(UsageError):
    """A record cannot be written, or a text is not a record of the type asked for; starts with the path."""


def schema_id(record: type) -> str:
    """Schema of a record type, as in the key "schema" of a file: `kengine.target_info/1` for TargetInfo."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", record.__name__).lower()
    return f"kengine.{snake}/{VERSIONS.get(record.__name__, 1)}"


def to_json(record: Any) -> dict[str, Any]:
    """Turn a record into JSON objects (dict, list, str, int, float, bool, None), without the key "schema".

    Raises CodecError for a value that does not match its annotation.
    """
    kind: Any = type(record)
    _require_record(kind)
    result: dict[str, Any] = _guard(kind, record, codec_of(kind).encode)
    return result


def from_json(value: object, kind: type[T]) -> T:
    """Build a record of type `kind` from parsed JSON; a key "schema" is optional here and checked when present."""
    _require_record(kind)
    if type(value) is dict and "schema" in value:
        _check_schema(value["schema"], kind)
        value = {k: v for k, v in value.items() if k != "schema"}
    result: T = _guard(kind, value, _decoder(kind))
    return result


def dumps(record: Any, *, indent: int | None = None) -> str:
    """Write a record as ASCII JSON text with its "schema" first; one line unless `indent` is given."""
    body = {"schema": schema_id(type(record)), **to_json(record)}
    separators = (",", ":") if indent is None else None
    return json.dumps(body, allow_nan=False, indent=indent, separators=separators)


def loads(text: str | bytes, kind: type[T]) -> T:
    """Read a record that `dumps` wrote. Raises CodecError for text that is not JSON or has another schema."""
    name = kind.__name__
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except _Wrong as wrong:
        raise CodecError(f"{name}: {wrong.problem}") from None
    except (ValueError, RecursionError) as error:
        raise CodecError(f"{name}: not JSON text: {error}") from None
    if type(value) is not dict:
        raise CodecError(f"{name}: want an object, got {_kind(value)}")
    if "schema" not in value:
        raise CodecError(f"{name}: missing key 'schema', want {schema_id(kind)!r}")
    return from_json(value, kind)


class Codec(NamedTuple):
    """How one annotation is written and read; both raise `_Wrong`, which collects the path on its way out."""

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


def _decoder(kind: Any) -> Callable[[Any], Any]:
    return codec_of(kind).decode


class _Wrong(Exception):
    """A value does not match; `parts` is the path, innermost first."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem
        self.parts: list[str] = []


def _guard(kind: type, value: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        return convert(value)
    except _Wrong as wrong:
        raise CodecError(f"{kind.__name__}{''.join(reversed(wrong.parts))}: {wrong.problem}") from None
    except RecursionError:
        raise CodecError(f"{kind.__name__}: values are nested too deeply") from None


def _require_record(kind: Any) -> None:
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind is Target:
        raise TypeError(f"want a record (a dataclass of kengine.model), got {kind!r}")


def _check_schema(value: object, kind: type) -> None:
    want = schema_id(kind)
    if value != want:
        raise CodecError(f"{kind.__name__}.schema: want {want!r}, got {_show(value)}")


def _refuse_constant(token: str) -> Any:
    raise _Wrong(f"{token} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [k for k, _ in pairs]
        twice = next(k for k in keys if keys.count(k) > 1)
        raise _Wrong(f"key {twice!r} stands twice in one object")
    return result


_JSON_NAMES: Mapping[type, str] = {type(None): "null", dict: "object", list: "array"}


def _kind(value: object) -> str:
    """Name of a value's type for an error: of JSON where it has one, and with its module where that is not known."""
    kind = type(value)
    if kind in _JSON_NAMES:
        return _JSON_NAMES[kind]
    known = kind.__module__ == "builtins" or kind.__module__.startswith("kengine.")
    return kind.__name__ if known else f"{kind.__module__}.{kind.__name__}"


def _show(value: object) -> str:
    return f"{value[:80]!r}" if type(value) is str else _kind(value)


def _exactly(kind: type) -> Codec:
    def check(value: Any) -> Any:
        if type(value) is kind:
            return value
        raise _Wrong(f"want {kind.__name__}, got {_kind(value)}")

    return Codec(check, check)


def _check_int(value: Any) -> int:
    if type(value) is not int:
        raise _Wrong(f"want int, got {_kind(value)}")
    if not INT_MIN <= value <= INT_MAX:
        raise _Wrong("want an int of at most 64 bits, got a larger one")
    return value


def _check_float(value: Any) -> float:
    if type(value) is float:
        if isfinite(value):
            return value
        raise _Wrong(f"want a finite float, got {value}")
    if type(value) is int:
        if abs(value) <= INT_MAX and int(float(value)) == value:
            return float(value)
        raise _Wrong("want float, got an int that no float holds exactly")
    raise _Wrong(f"want float, got {_kind(value)}")


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
        raise _Wrong(f"want a JSON value, got {_kind(value)}")

    return convert


def _each(values: Any, convert: Callable[[Any], Any]) -> list[Any]:
    result: list[Any] = []
    try:
        for value in values:
            result.append(convert(value))
    except _Wrong as wrong:
        wrong.parts.append(f"[{len(result)}]")
        raise
    return result


def _entries(values: Mapping[Any, Any], convert: Callable[[Any], Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    key: Any = None
    try:
        for key, value in values.items():
            if type(key) is not str:
                raise _Wrong(f"want str for a key, got {_kind(key)}")
            result[key] = convert(value)
    except _Wrong as wrong:
        wrong.parts.append(f"[{key!r}]")
        raise
    return result


def _tuple_codec(item: Codec) -> Codec:
    encode_item, decode_item = item

    def encode(value: Any) -> Any:
        if type(value) is not tuple:
            raise _Wrong(f"want tuple, got {_kind(value)}")
        return _each(value, encode_item)

    def decode(value: Any) -> Any:
        if type(value) is not list:
            raise _Wrong(f"want array, got {_kind(value)}")
        return tuple(_each(value, decode_item))

    return Codec(encode, decode)


def _mapping_codec(item: Codec) -> Codec:
    encode_item, decode_item = item

    def encode(value: Any) -> Any:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise _Wrong(f"want mapping, got {_kind(value)}")
        return _entries(value, encode_item)

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise _Wrong(f"want object, got {_kind(value)}")
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
            raise _Wrong(f"want {stored.__name__}, got {_kind(value)}")
        if value not in written:
            raise _Wrong(f"want one of {names}, got {_show(value)}")
        return written[value]

    def decode(value: Any) -> Any:
        if type(value) is not str or value not in read:
            raise _Wrong(f"want one of {names}, got {_show(value)}")
        return read[value]

    return Codec(encode, decode)


def _encode_target(value: Any) -> str:
    if type(value) is not Target:
        raise _Wrong(f"want Target, got {_kind(value)}")
    return str(value)


def _decode_target(value: Any) -> Target:
    if type(value) is not str:
        raise _Wrong(f"want str, got {_kind(value)}")
    try:
        return Target.parse(value)
    except UsageError as error:
        raise _Wrong(str(error)) from None


def _record_codec(record: Any) -> Codec:
    fields = fields_of(record)
    encoders = [(name, codec_of(hint).encode) for name, (hint, _) in fields.items()]
    decoders = [(name, codec_of(hint).decode, needed) for name, (hint, needed) in fields.items()]

    def encode(value: Any) -> Any:
        if type(value) is not record:
            raise _Wrong(f"want {record.__name__}, got {_kind(value)}")
        result = {}
        name = ""
        try:
            for name, encode_field in encoders:
                result[name] = encode_field(getattr(value, name))
        except _Wrong as wrong:
            wrong.parts.append(f".{name}")
            raise
        return result

    def decode(value: Any) -> Any:
        if type(value) is not dict:
            raise _Wrong(f"want object, got {_kind(value)}")
        given = {}
        name = ""
        try:
            for name, decode_field, needed in decoders:
                if name in value:
                    given[name] = decode_field(value[name])
                elif needed:
                    raise _Wrong("missing, and it has no default")
        except _Wrong as wrong:
            wrong.parts.append(f".{name}")
            raise
        if len(given) != len(value):
            raise _Wrong(_unknown(next(key for key in value if key not in given), fields))
        try:
            return record(**given)
        except UsageError as error:  # a record may check its values when it is made
            raise _Wrong(str(error)) from None

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
