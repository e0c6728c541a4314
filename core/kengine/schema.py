"""JSON Schema (draft 2020-12) of the records, derived from the same annotations as the codec."""

from __future__ import annotations

import dataclasses
import inspect
import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

from kengine.annotation import INT_MAX, INT_MIN, Json, fields_of
from kengine.codec import schema_id
from kengine.config import Plan
from kengine.model import Artifact, Candidate, TargetInfo, Task, Verdict
from kengine.target import Target

PUBLISHED = (Verdict, Task, Candidate, Artifact, TargetInfo, Plan)
"""Records that are written as whole files, hence have a schema file each."""

_ARRAY_OR_OBJECT = {
    "anyOf": [
        {"type": ["null", "boolean", "number", "string"]},
        {"type": "array", "items": {"$ref": "#/$defs/JsonValue"}},
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/JsonValue"}},
    ]
}
_SIMPLE: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": INT_MIN, "maximum": INT_MAX},
    float: {"type": "number"},
    Target: {"type": "string", "pattern": "^[a-z][a-z0-9_]*:[A-Za-z0-9][A-Za-z0-9_.+-]*$"},
}


def file_name(record: type) -> str:
    """Name of the schema file of a record: `verdict-1.json`."""
    return schema_id(record).removeprefix("kengine.").replace("/", "-") + ".json"


def describe(record: type) -> dict[str, Any]:
    """Schema of a file that holds one record, as `codec.dumps` writes it.

    It is what other languages can check; the codec is stricter in one point: JSON Schema takes 3.0 for an integer.
    """
    definitions: dict[str, Any] = {}
    body = _object(record, definitions)
    body["properties"] = {"schema": {"const": schema_id(record)}, **body["properties"]}
    body["required"] = ["schema", *body["required"]]
    definitions.pop(record.__name__, None)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": schema_id(record),
        **body,
        "$defs": dict(sorted(definitions.items())),
    }


def _object(record: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    fields = fields_of(record)
    return {
        "type": "object",
        "description": inspect.cleandoc(record.__doc__ or ""),
        "properties": {name: _schema(hint, definitions) for name, (hint, _) in fields.items()},
        "required": [name for name, (_, needed) in fields.items() if needed],
        "additionalProperties": False,
    }


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    if hint is Json:
        definitions["JsonValue"] = _ARRAY_OR_OBJECT
        return {"$ref": "#/$defs/JsonValue"}
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return {"type": "array", "items": _schema(args[0], definitions)}
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (Union, types.UnionType):
        inner = next(a for a in args if a is not type(None))
        return {"anyOf": [_schema(inner, definitions), {"type": "null"}]}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema(args[1], definitions)}
    if isinstance(hint, type) and issubclass(hint, Enum):
        definitions[hint.__name__] = {
            "description": inspect.cleandoc(hint.__doc__ or ""),
            "enum": [member.value for member in hint],
        }
    elif dataclasses.is_dataclass(hint):
        name = hint.__name__  # type: ignore[union-attr]
        if name not in definitions:
            definitions[name] = {}
            definitions[name] = _object(hint, definitions)
    else:
        raise TypeError(f"a record cannot have a field of type {hint!r}")
    return {"$ref": f"#/$defs/{hint.__name__}"}
