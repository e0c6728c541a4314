"""Strict JSON for the frozen records: what was written reads back equal, and anything else is refused with its path.

Each field is checked against its annotation in both directions: no NaN or infinity, no unknown key, no missing key
that has no default, no int for a bool, no float for an int. A float field takes an int that it can hold exactly,
because JSON writers turn 1.0 into 1. Integers have at most 64 bits. Targets are written as `BACKEND:ARCH`, enums as
their value, tuples as arrays. An error starts with the path: `LintRecord.findings[0].line: want int, got float`.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kengine.annotation import Wrong, codec_of, kind_of, show
from kengine.errors import UsageError
from kengine.target import Target

T = TypeVar("T")

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
    except Wrong as wrong:
        raise CodecError(f"{name}: {wrong.problem}") from None
    except (ValueError, RecursionError) as error:
        raise CodecError(f"{name}: not JSON text: {error}") from None
    if type(value) is not dict:
        raise CodecError(f"{name}: want an object, got {kind_of(value)}")
    if "schema" not in value:
        raise CodecError(f"{name}: missing key 'schema', want {schema_id(kind)!r}")
    return from_json(value, kind)


def _decoder(kind: Any) -> Callable[[Any], Any]:
    return codec_of(kind).decode


def _guard(kind: type, value: Any, convert: Callable[[Any], Any]) -> Any:
    try:
        return convert(value)
    except Wrong as wrong:
        raise CodecError(f"{kind.__name__}{''.join(reversed(wrong.parts))}: {wrong.problem}") from None
    except RecursionError:
        raise CodecError(f"{kind.__name__}: values are nested too deeply") from None


def _require_record(kind: Any) -> None:
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)) or kind is Target:
        raise TypeError(f"want a record (a dataclass of kengine.model), got {kind!r}")


def _check_schema(value: object, kind: type) -> None:
    want = schema_id(kind)
    if value != want:
        raise CodecError(f"{kind.__name__}.schema: want {want!r}, got {show(value)}")


def _refuse_constant(token: str) -> Any:
    raise Wrong(f"{token} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [k for k, _ in pairs]
        twice = next(k for k in keys if keys.count(k) > 1)
        raise Wrong(f"key {twice!r} stands twice in one object")
    return result
